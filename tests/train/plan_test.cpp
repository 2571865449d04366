// `train plan`, by its results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "tests/support/expect_error.h"
#include "tests/train/run_fixture.h"
#include "train/quantities.h"
#include "train/recipe.h"
#include "train/report/plan_report.h"
#include "train/session/device.h"
#include "train/session/programs.h"
#include "train/settings_of_options.h"

namespace lethe::testing {
namespace {

PlanReport report_of(const Options& options) {
  return report_plan(program_setting(options), device_info(options.device));
}

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
  std::vector<std::int64_t> peaks;
  for (const std::string memopt : {"none", "level=1,release", "level=2"})
    for (const std::vector<std::string>& evaluated :
         {std::vector<std::string>{}, std::vector<std::string>{"--eval-every", "0"}}) {
      std::vector<std::string> options = {"--memopt", memopt};
      options.insert(options.end(), evaluated.begin(), evaluated.end());
      peaks.push_back(json(options)["bytes"]["peak"]);
      options.insert(options.end(), {"--steps", "2"});
      const Ended run = run_train(small(options));
      EXPECT_NE(run.out.find(message("memory taken ", peaks.back(), " bytes, as predicted")), std::string::npos)
          << memopt << ": " << peaks.back() << "\n"
          << run.out;
    }
  EXPECT_GT(peaks[0], peaks[1]) << "evaluation has buffers of its own";
}

TEST_F(PlanCommand, EvaluationIsPlannedAloneWithWhatIsSkippedThere) {
  const Ended text = plan({"--eval"});
  EXPECT_NE(text.out.find("f32, evaluation; "), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("evaluation's own"), std::string::npos) << text.out;
  const auto peak = [&](const std::vector<std::string>& more) {
    return json(more)["bytes"]["peak"].get<std::int64_t>();
  };
  EXPECT_LT(peak({"--eval"}), peak({"--eval-every", "0"}));
  EXPECT_LT(peak({"--eval", "--memopt", "none,inplace"}),
            peak({"--eval", "--memopt", "none,inplace", "--skip-vars", "bn1.y"}));
  const Ended unknown = plan({"--eval", "--skip-vars", "nonsense"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("--skip-vars: no var named 'nonsense'"), std::string::npos) << unknown.err;
  const Ended gradients = plan({"--eval", "--skip-grads"});
  EXPECT_EQ(gradients.code, 2);
  EXPECT_NE(gradients.err.find("--skip-grads: evaluation has no gradients"), std::string::npos) << gradients.err;
}

TEST_F(PlanCommand, WithoutALossTheOutputsLiveToTheEnd) {
  std::ofstream(path("two.json")) << R"({"version": 1, "name": "two",
    "inputs": {"x": {"shape": [8]}},
    "layers": [{"op": "fc", "out": 8, "name": "first"}, {"op": "fc", "out": 8, "name": "last"}],
    "outputs": ["first", "last"]})";
  const Options options =
      decided(parse_options({"plan", "--model", path("two.json"), "--eval", "--memopt", "level=1", "--threads", "1"}));
  const PlanReport report = report_of(options);
  const Planned& planned = report.planned();
  for (const char* name : {"first.y", "last.y"})
    EXPECT_EQ(planned.sharing.storages[planned.sharing.of[find_var(planned.program, name)]].pin, Pin::Fetched) << name;
}

TEST_F(PlanCommand, OptnetIsForTrainingEvaluationAndCounts) {
  const Ended ended = plan({"--memopt", "optnet=training"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("plan knows none and the levels; train count says"), std::string::npos) << ended.err;
  EXPECT_EQ(run_train({"plan", "--help"}).out.find("optnet"), std::string::npos);
}

TEST_F(PlanCommand, TheLowerBoundIsThatOfLevel2WhateverIsAsked) {
  const nlohmann::json arena = json({}), buffers = json({"--memopt", "level=1"});
  EXPECT_EQ(buffers["lower_bound"], arena["lower_bound"]);
  EXPECT_TRUE(buffers["arena"].is_null() && buffers["certified"].is_null());
  EXPECT_NE(
      plan({"--memopt", "level=1"}).out.find(message("memory lower bound ", arena["lower_bound"].dump(), " bytes")),
      std::string::npos);
}

TEST_F(PlanCommand, TheLargestBatchThatFitsIsTheLargest) {
  const std::int64_t least = json({})["bytes"]["peak"];
  const Options options = decided(parse_options({"plan", "--model", path("small.json"), "--memopt", "none", "--threads",
                                                 "1", "--memory-budget", std::to_string(least - 1)}));
  const std::vector<Remedy> remedies = report_of(options).remedies;
  const std::string change = remedies.back().change, words = "--memopt level=2 --batch ";
  ASSERT_EQ(change.compare(0, words.size(), words), 0) << change;
  const int batch = std::stoi(change.substr(words.size()));
  const auto peak = [&](int samples) {
    return json({"--batch", std::to_string(samples)})["bytes"]["peak"].get<std::int64_t>();
  };
  EXPECT_EQ(peak(batch), remedies.back().bytes);
  EXPECT_LT(peak(batch), least);
  EXPECT_GE(peak(batch + 1), least);
}

TEST_F(PlanCommand, NoSmallerBatchIsNamedWhereLevel2Fits) {
  const std::int64_t budget = json({})["bytes"]["peak"].get<std::int64_t>() + 1000;
  const Ended ended = plan({"--memopt", "none", "--memory-budget", std::to_string(budget)});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out.find("the largest that fits"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("--memopt level=2"), std::string::npos) << ended.out;
  EXPECT_NE(ended.err.find("; --memopt level=2 fits"), std::string::npos) << ended.err;
}

TEST_F(PlanCommand, JsonHasAllFiguresAndTheyAddUp) {
  const nlohmann::json plan = json({});
  std::int64_t sum = 0;
  for (const char* category :
       {"inputs", "params", "param_grads", "optimizer", "activations", "activation_grads", "workspace", "evaluation"})
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
  const Ended over = plan({"--memopt", "level=2", "--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  EXPECT_NE(over.err.find("the smallest that is enough is " + std::to_string(least)), std::string::npos) << over.err;
  EXPECT_NE(over.out.find("the largest that fits"), std::string::npos) << over.out;
  const Ended other = plan({"--memopt", "none", "--memory-budget", std::to_string(least)});
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("--memopt level=2 fits"), std::string::npos) << other.err;
  EXPECT_EQ(plan({"--memory-budget", "much"}).code, 2);
}

TEST_F(PlanCommand, ABudgetIsKeptByComputingAgainAsLittleAsItTakes) {
  const nlohmann::json whole = json({}), swept = json({"--sweep"})["points"];
  if (swept.size() < 2) GTEST_SKIP() << "in this build workspaces take more than what is kept";
  EXPECT_EQ(swept.front()["bytes"], whole["bytes"]["peak"]);
  const std::int64_t least = swept.back()["bytes"];
  std::int64_t bytes = 0;
  double overhead = 0;
  constexpr int kBudgets = 50;
  for (int i = 0; i < kBudgets; ++i) {
    const std::int64_t budget = swept.front()["bytes"].get<std::int64_t>() -
                                (swept.front()["bytes"].get<std::int64_t>() - least) * i / (kBudgets - 1);
    const nlohmann::json figures = json({"--memory-budget", std::to_string(budget)});
    const std::int64_t taken = figures["bytes"]["peak"];
    EXPECT_LE(taken, budget);
    EXPECT_EQ(figures["budget"], budget);
    EXPECT_EQ(figures["least_feasible"], least);
    if (i > 0) {
      EXPECT_LE(taken, bytes) << "less budget never takes more bytes";
      EXPECT_GE(figures["overhead"].get<double>(), overhead) << "nor less time";
    }
    bytes = taken;
    overhead = figures["overhead"];
  }
  EXPECT_EQ(bytes, least);
  const Ended over = plan({"--memory-budget", std::to_string(least - 1)});
  EXPECT_EQ(over.code, 3);
  EXPECT_NE(over.err.find("the smallest that is enough is " + std::to_string(least)), std::string::npos) << over.err;
}

TEST_F(PlanCommand, ARunKeepsItsBudgetAndItsLosses) {
  const nlohmann::json swept = json({"--sweep"})["points"];
  if (swept.size() < 2) GTEST_SKIP() << "in this build workspaces take more than what is kept";
  const std::int64_t least = swept.back()["bytes"];
  const auto losses = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--steps", "3", "--log-every", "1", "--metrics", path("run.csv")};
    options.insert(options.end(), more.begin(), more.end());
    const Ended run = run_train(small(options));
    EXPECT_EQ(run.code, 0) << run.err;
    std::ifstream in(path("run.csv"));
    std::string all;
    for (std::string line; std::getline(in, line);) {  // step,epoch,split,loss,acc and then what varies
      std::size_t end = 0;
      for (int cell = 0; cell < 5; ++cell) end = line.find(',', end + 1);
      all += line.substr(0, end) + "\n";
    }
    return std::pair(run.out, all);
  };
  const auto [plain, expected] = losses({"--memopt", "none"});
  const auto [out, found] = losses({"--memory-budget", std::to_string(least)});
  EXPECT_NE(out.find("once more"), std::string::npos) << out;
  EXPECT_NE(out.find(message("memory taken ", least, " bytes, as predicted")), std::string::npos) << out;
  EXPECT_EQ(found, expected);
  const Ended refused = run_train(small({"--steps", "1", "--memory-budget", std::to_string(least - 1)}));
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find(message("takes at least ", least, " bytes, more than the memory budget")),
            std::string::npos)
      << refused.err;
}

TEST_F(PlanCommand, TheLargestBatchIsThatWhichOneMoreWouldNotFit) {
  for (const char* memopt : {"level=2", "level=3"}) {
    const std::int64_t budget = 300000;
    const nlohmann::json figures =
        json({"--batch", "auto", "--memory-budget", std::to_string(budget), "--memopt", memopt});
    const std::int64_t batch = figures["batch"];
    EXPECT_GT(batch, 16);
    EXPECT_LE(figures["bytes"]["peak"], budget);
    EXPECT_GT(json({"--batch", std::to_string(batch + 1), "--memopt", memopt})["bytes"]["peak"], budget);
  }
  EXPECT_NE(plan({"--batch", "auto"}).err.find("--batch auto needs --memory-budget"), std::string::npos);
  EXPECT_EQ(plan({"--batch", "auto", "--memory-budget", "100"}).code, 3);
}

TEST_F(PlanCommand, WinogradsWorkspaceIsNamedAmongWhatCouldBeSaved) {
  const auto says_so = [](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"plan", "--model", "resnet20", "--batch", "64", "--eval-every", "0"};
    args.insert(args.end(), more.begin(), more.end());
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.find("convolutions by sums of products: slower") != std::string::npos;
  };
  EXPECT_TRUE(says_so({}));
  EXPECT_FALSE(says_so({"--no-winograd"}));
}

TEST_F(PlanCommand, ASweepIsDrawn) {
  const Ended ended = plan({"--sweep", "--out", path("sweep.svg")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find("overhead, predicted"), std::string::npos);
  std::stringstream svg;
  svg << std::ifstream(path("sweep.svg")).rdbuf();
  EXPECT_NE(svg.str().find("<polyline class=\"course\""), std::string::npos);
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
  const PlanReport report = report_of(options);
  ASSERT_GE(report.remedies.size(), 3U);
  for (const Remedy& remedy : report.remedies) {
    EXPECT_LT(remedy.bytes, report.row().bytes()) << remedy.change;
    if (remedy.change != "--memopt level=2") continue;
    Prepared prepared(open_cpu(1)->info());
    const MemorySetting changed = memory_setting("level=2", options.memopt);
    const Programs programs = build_programs(program_setting(options));
    EXPECT_EQ(plan_programs(programs, true, changed, prepared).bytes.total(), remedy.bytes);
  }
}

TEST_F(PlanCommand, TheLargestAtThePeakAddUpToIt) {
  for (const char* memopt : {"none", "level=1,release,inplace", "level=2"}) {
    const PlanReport report = report_of(
        decided(parse_options({"plan", "--model", path("small.json"), "--memopt", memopt, "--threads", "1"})));
    std::int64_t sum = report.row().peak.idle;
    for (const Resident& r : report.row().peak.living) sum += r.bytes;
    EXPECT_EQ(sum, report.planned().plan.bytes.total());
    EXPECT_EQ(sum + report.row().evaluation, report.plans.bytes.total());
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
  EXPECT_EQ(parse_bytes("4.1MB", "--x"), 4'100'000);
  for (const char* wrong : {"", "MiB", "-1", "5 apples", "1e30GiB", "nan"})
    EXPECT_TRUE(fails_with("is no size", [&] { parse_bytes(wrong, "--x"); })) << wrong;
}

}  // namespace
}  // namespace lethe::testing
