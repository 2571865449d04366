// A step on several ranks is simulated by a clock of seconds that are given.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "tests/train/run_fixture.h"
#include "train/search/simulated_step.h"

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

constexpr double kSmallSeconds = 1e-4;  // what messages and sums of four values take beside
constexpr Link kSlowLink{.bytes = 1e12, .latency = 1.25};

TEST(SimulatedStep, HidesWhatOtherOpsTakeAndWaitsForTheRest) {
  for (const auto& [between, waits] : {std::pair(0, 2.5), {2, 0.5}, {3, 0.0}}) {
    Clocked clocked(2);
    const std::vector<VarId> sum = clocked.start();
    clocked.relus(between);
    clocked.wait(sum);
    const SimulatedStep step = clocked.run(kSlowLink);
    EXPECT_NEAR(step.computing, between, kSmallSeconds);
    EXPECT_NEAR(step.waiting, waits, kSmallSeconds) << between;
    EXPECT_NEAR(step.sending, 2.5, kSmallSeconds);
  }
}

TEST(SimulatedStep, SendsOneAfterTheOther) {
  Clocked clocked(2);
  const std::vector<VarId> first = clocked.start(), second = clocked.start();
  clocked.relus(1);
  clocked.wait(first);
  clocked.wait(second);
  EXPECT_NEAR(clocked.run(kSlowLink).waiting, 4, kSmallSeconds);
}

TEST(SimulatedStep, KnowsHowSumsTravel) {
  Clocked clocked(8);
  clocked.wait(clocked.start());
  const auto exchanges = [&](Exchange how) { return clocked.run({.bytes = 1e12, .latency = 1}, how).waiting; };
  EXPECT_NEAR(exchanges(Exchange::Pieces), 2, kSmallSeconds);
  EXPECT_NEAR(exchanges(Exchange::Ring), 14, kSmallSeconds);
  EXPECT_NEAR(exchanges(Exchange::Tree), 6, kSmallSeconds);
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

TEST_F(ScalingCommand, NamesTheCheapestStageThatFits) {
  const std::vector<std::string> two = {"--ranks", "2",        "--shards", "2",           "--batch",
                                        "16",      "--memopt", "level=2",  "--optimizer", "adam"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), two.begin(), two.end());
    return more;
  };
  std::vector<std::int64_t> bytes, sent;
  for (const char* const stage : {"0", "1", "2", "3"}) {
    const nlohmann::json of = json(with({"--zero", stage}));
    bytes.push_back(of["bytes"]["peak"]);
    sent.push_back(of["sent"]);
  }
  ASSERT_GT(bytes[0], bytes[2]);
  ASSERT_GT(sent[1], sent[2]);
  const auto text = [&](std::int64_t budget, const std::vector<std::string>& more, int code) {
    std::vector<std::string> args = with(more);
    args.insert(args.end(), {"--memory-budget", std::to_string(budget)});
    args.insert(args.begin(), {"plan", "--model", path("small.json"), "--threads", "1"});
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.out + ended.err;
  };
  const auto says = [](const std::string& all, const std::string& words) {
    return all.find(words) != std::string::npos;
  };
  EXPECT_PRED2(says, text(bytes[0], {}, 0), message("--zero 0 is the cheapest stage that fits into ", bytes[0]));
  const std::string shared = text(bytes[0] - 1, {"--network", "1Gb,10us"}, 3);
  EXPECT_PRED2(
      says, shared,
      message("--zero 2 is the cheapest stage that fits into ", bytes[0] - 1, " bytes: takes ", bytes[2], " bytes ("));
  EXPECT_PRED2(says, shared, message("sends ", sent[2], " bytes ("));
  EXPECT_PRED2(says, shared, "; --zero 2 fits");
  const std::int64_t least = *std::ranges::min_element(bytes);
  EXPECT_PRED2(says, text(least - 1, {}, 3),
               message("no stage of --zero fits into ", least - 1, " bytes: the smallest, --zero "));
  EXPECT_PRED2(says, text(least - 1, {"--zero", "auto"}, 3), message("takes ", least));
  const nlohmann::json chosen = json(with({"--zero", "auto", "--memory-budget", std::to_string(bytes[0] - 1)}));
  EXPECT_EQ(chosen["zero"], 2);
  EXPECT_EQ(chosen["bytes"]["peak"], bytes[2]);
  EXPECT_EQ(chosen["cheapest_zero"], 2);
  EXPECT_EQ(json(with({"--memory-budget", std::to_string(bytes[0])}))["zero_stages"].size(), 4U);
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
  refused({"--zero", "auto", "--ranks", "2", "--shards", "2"}, "--memory-budget, which it needs");
  refused({"--zero", "auto", "--memory-budget", "1GiB"}, "add --ranks R");
  refused({"--zero", "4"}, "--zero");
  refused({"--exchange", "ring"}, "--exchange is of --ranks A..B");
  refused({"--ranks", "2", "--exchange", "ring"}, "--exchange is of --ranks A..B");
}

}  // namespace
}  // namespace lethe::testing
