// `train plan`, by its results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/cpu_device.h"
#include "tests/support/expect_error.h"
#include "tests/train/run_fixture.h"
#include "train/plan_report.h"
#include "train/programs.h"
#include "train/recipe.h"

namespace lethe::testing {
namespace {

class PlanCommand : public RunTest {
 protected:
  Ended plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", "--model", path("small.json"), "--threads", "1"});
    return run_train(more);
  }
  nlohmann::json json(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Ended ended = plan(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
};

TEST_F(PlanCommand, SaysBeforehandWhatARunTakes) {
  for (const char* memopt : {"none", "level=1,release", "level=2"}) {
    const std::int64_t peak = json({"--memopt", memopt})["bytes"]["peak"];
    const Ended run = run_train(small({"--memopt", memopt, "--steps", "2", "--eval-every", "0"}));
    EXPECT_NE(run.out.find("memory taken " + std::to_string(peak) + " bytes, as predicted"), std::string::npos)
        << memopt << ": " << peak << "\n"
        << run.out;
  }
}

TEST_F(PlanCommand, JsonHasAllFiguresAndTheyAddUp) {
  const nlohmann::json plan = json({});
  std::int64_t sum = 0;
  for (const char* category :
       {"inputs", "params", "param_grads", "optimizer", "activations", "activation_grads", "workspace"})
    sum += plan["bytes"][category].get<std::int64_t>();
  EXPECT_EQ(plan["bytes"]["total"], sum);
  EXPECT_EQ(plan["none_peak"], sum) << "without sharing all is held at once";
  EXPECT_EQ(plan["memopt"], "level=2");
  EXPECT_EQ(plan["arena"], plan["lower_bound"]);
  EXPECT_EQ(plan["certified"], true);
  EXPECT_GT(plan["program"]["ops"], 10);
  EXPECT_TRUE(json({"--memopt", "none"})["arena"].is_null());
}

TEST_F(PlanCommand, ABudgetThatIsTooSmallNamesOneThatIsEnough) {
  const std::int64_t least = json({})["bytes"]["peak"];
  EXPECT_EQ(plan({"--memory-budget", std::to_string(least)}).code, 0);
  const Ended over = plan({"--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  EXPECT_NE(over.err.find("the smallest that is enough is " + std::to_string(least)), std::string::npos) << over.err;
  EXPECT_NE(over.out.find("the largest that fits"), std::string::npos) << over.out;
  const Ended other = plan({"--memopt", "none", "--memory-budget", std::to_string(least)});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("--memopt level=2 fits"), std::string::npos) << other.err;
  EXPECT_EQ(plan({"--memory-budget", "much"}).code, 2);
}

TEST_F(PlanCommand, ThePackerTakesTheArenaAsAnInstance) {
  const nlohmann::json figures = json({"--csv", path("arena.csv")});
  const Ended packed = run_train({"pack", path("arena.csv"), "--out", path("packed.csv")});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_NE(packed.err.find("height " + std::to_string(figures["arena"].get<std::int64_t>()) + " "), std::string::npos)
      << packed.err;
  EXPECT_EQ(plan({"--csv", path("arena.csv"), "--memopt", "level=1"}).code, 2);
}

TEST_F(PlanCommand, EveryRemedyIsAsGoodAsItSays) {
  const Options options = decided(
      parse_options({"plan", "--model", path("small.json"), "--memopt", "level=0", "--skip-grads", "--threads", "1"}));
  const PlanReport report = report_plan(options);
  ASSERT_GE(report.remedies.size(), 3U);
  for (const Remedy& remedy : report.remedies) {
    EXPECT_LT(remedy.bytes, report.row().bytes()) << remedy.change;
    if (remedy.change != "--memopt level=2") continue;
    Prepared prepared(open_cpu(1)->info());
    Options changed = options;
    changed.memopt = "level=2";
    EXPECT_EQ(planned_program(changed, prepared).plan.bytes.total(), remedy.bytes);
  }
}

TEST_F(PlanCommand, TheLargestAtThePeakAddUpToIt) {
  for (const char* memopt : {"none", "level=1,release,inplace", "level=2"}) {
    const PlanReport report = report_plan(
        decided(parse_options({"plan", "--model", path("small.json"), "--memopt", memopt, "--threads", "1"})));
    std::int64_t sum = report.row().peak.idle;
    for (const Resident& r : report.row().peak.living) sum += r.bytes;
    EXPECT_EQ(sum, report.planned.plan.bytes.total());
  }
}

TEST(PlanOfZoo, NeedsNoMachineThatCouldRunIt) {
  const Ended ended = run_train({"plan", "--model", "vgg16", "--batch", "4096", "--memopt", "level=1", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_GT(nlohmann::json::parse(ended.out)["bytes"]["peak"].get<std::int64_t>(), std::int64_t{100} << 30);
}

TEST(ParseBytes, TakesBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1500", "--x"), 1500);
  EXPECT_EQ(parse_bytes("1.5KiB", "--x"), 1536);
  EXPECT_EQ(parse_bytes("2GB", "--x"), 2'000'000'000);
  for (const char* wrong : {"", "MiB", "-1", "5 apples", "1e30GiB", "nan"})
    EXPECT_TRUE(fails_with("is no size", [&] { parse_bytes(wrong, "--x"); })) << wrong;
}

}  // namespace
}  // namespace lethe::testing
