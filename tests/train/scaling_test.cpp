// What a step on several ranks would take, by a clock of seconds that are given.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/op_def.h"
#include "tests/train/run_fixture.h"
#include "train/session/simulated_step.h"

namespace lethe::testing {
namespace {

/// A program in which each relu takes a second.
class Clocked {
 public:
  explicit Clocked(std::int64_t ranks) : ranks_(ranks) {
    x_ = add_var(program_, {.name = "x", .shape = {4}, .dtype = DType::f32, .kind = Kind::Input});
  }
  std::vector<VarId> start() {
    return append_op(program_, 0, Role::Optimize, kAllReduceStart, {x_}, {{"ranks", ranks_}}, "sum");
  }
  void wait(const std::vector<VarId>& started) {
    append_op(program_, 0, Role::Optimize, kAllReduceWait, started, {}, "all");
  }
  void relus(int count) {
    for (int i = 0; i < count; ++i) append_op(program_, 0, Role::Forward, "relu", {x_}, {}, "y");
  }
  SimulatedStep run(const Link& link, Exchange how = Exchange::Pieces) const {
    return simulated_step(
        program_, [](const Program&, const Op&) { return 1.0; }, link, how);
  }

 private:
  Program program_;
  std::int64_t ranks_;
  VarId x_;
};

constexpr double kSmall = 1e-4;  // what messages and sums of four values take beside
constexpr Link kSlow{.bytes = 1e12, .latency = 1.25};

TEST(SimulatedStep, HidesWhatOtherOpsTakeAndWaitsForTheRest) {
  for (const auto& [between, waits] : {std::pair(0, 2.5), {2, 0.5}, {3, 0.0}}) {
    Clocked clocked(2);
    const std::vector<VarId> sum = clocked.start();
    clocked.relus(between);
    clocked.wait(sum);
    const SimulatedStep step = clocked.run(kSlow);
    EXPECT_NEAR(step.computing, between, kSmall);
    EXPECT_NEAR(step.waiting, waits, kSmall) << between;
    EXPECT_NEAR(step.sending, 2.5, kSmall);
  }
}

TEST(SimulatedStep, SendsOneAfterTheOther) {
  Clocked clocked(2);
  const std::vector<VarId> first = clocked.start(), second = clocked.start();
  clocked.relus(1);
  clocked.wait(first);
  clocked.wait(second);
  EXPECT_NEAR(clocked.run(kSlow).waiting, 4, kSmall);
}

TEST(SimulatedStep, KnowsHowSumsTravel) {
  Clocked clocked(8);
  clocked.wait(clocked.start());
  const auto exchanges = [&](Exchange how) { return clocked.run({.bytes = 1e12, .latency = 1}, how).waiting; };
  EXPECT_NEAR(exchanges(Exchange::Pieces), 2, kSmall);
  EXPECT_NEAR(exchanges(Exchange::Ring), 14, kSmall);
  EXPECT_NEAR(exchanges(Exchange::Tree), 6, kSmall);
  const auto bytes = [&](Exchange how) { return clocked.run({.bytes = 1, .latency = 0}, how).waiting; };
  EXPECT_NEAR(bytes(Exchange::Ring), 2 * 16 * 7 / 8, 2);
  EXPECT_NEAR(bytes(Exchange::Tree), 6 * 16, 1);
}

class ScalingCommand : public RunTest {
 protected:
  Ended plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", "--model", path("small.json"), "--threads", "1", "--json"});
    return run_train(more);
  }
  nlohmann::json json(const std::vector<std::string>& more) const {
    const Ended ended = plan(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
};

TEST_F(ScalingCommand, EachRowIsThePlanOfSoManyRanks) {
  const nlohmann::json all =
      json({"--batch", "4", "--ranks", "1..16", "--network", "25Gb,10us", "--out", path("ranks.svg")});
  ASSERT_EQ(all["rows"].size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string ranks = std::to_string(1 << i), batch = std::to_string(4 << i);
    const nlohmann::json row = all["rows"][i], one = json({"--ranks", ranks, "--shards", ranks, "--batch", batch});
    EXPECT_EQ(row["bytes"], one["bytes"]["peak"]) << ranks;
    EXPECT_EQ(row["sent"], one["sent"]) << ranks;
    EXPECT_EQ(row["seconds"]["waiting"] == 0, i == 0) << ranks;
  }
  const nlohmann::json slow = json({"--batch", "4", "--ranks", "2..4", "--network", "1Mb,10ms"})["rows"];
  EXPECT_GT(slow[0]["seconds"]["step"], all["rows"][1]["seconds"]["step"]);
  EXPECT_LT(slow[1]["efficiency"], 1);
  std::stringstream svg;
  svg << std::ifstream(path("ranks.svg")).rdbuf();
  EXPECT_NE(svg.str().find("<polyline class=\"time\""), std::string::npos);
  EXPECT_NE(svg.str().find("<polyline class=\"bytes\""), std::string::npos);
}

TEST_F(ScalingCommand, FindsTheLargestBatchOfSoManyRanks) {
  const auto of = [&](const std::string& batch, const std::string& budget) {
    return json({"--ranks", "2", "--shards", "4", "--memopt", "level=2", "--batch", batch, "--memory-budget", budget});
  };
  const std::int64_t budget = of("12", "1GiB")["bytes"]["peak"];
  EXPECT_EQ(of("auto", std::to_string(budget))["batch"], 12);
  EXPECT_EQ(of("auto", std::to_string(budget - 1))["batch"], 8);
}

TEST_F(ScalingCommand, RefusesWhatItCannotPredict) {
  const auto refused = [&](const std::vector<std::string>& args, const char* words) {
    const Ended ended = plan(args);
    EXPECT_EQ(ended.code, 2) << ended.out;
    EXPECT_NE(ended.err.find(words), std::string::npos) << ended.err;
  };
  refused({"--ranks", "1..8"}, "needs --network");
  refused({"--ranks", "8..2", "--network", "25Gb,10us"}, "2 is not above 8");
  refused({"--ranks", "two"}, "neither a number of ranks nor");
  refused({"--ranks", "1..2000"}, "neither a number of ranks nor");
  refused({"--ranks", "1..8", "--network", "25Gb,10us", "--eval"}, "goes without --sweep, --eval and --csv");
  refused({"--out", path("x.svg")}, "a plan has no picture");
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--ranks", "1"}, {"--ranks", "2", "--shards", "2", "--sweep"}, {"--ranks", "2", "--eval"}}) {
    std::vector<std::string> args = {"--network", "25Gb,10us"};
    args.insert(args.end(), more.begin(), more.end());
    refused(args, "--network is of training on several ranks");
  }
  refused({"--exchange", "ring"}, "--exchange is of --ranks A..B");
  refused({"--ranks", "2", "--exchange", "ring"}, "--exchange is of --ranks A..B");
}

}  // namespace
}  // namespace lethe::testing
