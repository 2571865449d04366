// `train plan`, by its results.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "tests/support/expect_error.h"
#include "tests/train/plan_command.h"
#include "train/session/programs.h"
#include "train/values.h"

namespace lethe::testing {
namespace {

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

TEST_F(PlanCommand, TheLowerBoundIsThatOfTheArenaAndWithoutOneThatOfLevel2) {
  const nlohmann::json arena = json({}), buffers = json({"--memopt", "level=1"});
  const nlohmann::json again = json({"--memopt", "level=3", "--overhead", "50%"});
  EXPECT_LT(again["lower_bound"], arena["lower_bound"]);
  EXPECT_LE(again["lower_bound"], again["arena"]);
  EXPECT_EQ(buffers["lower_bound"], arena["lower_bound"]);
  EXPECT_TRUE(buffers["arena"].is_null() && buffers["certified"].is_null());
  EXPECT_NE(
      plan({"--memopt", "level=1"}).out.find(message("memory lower bound ", arena["lower_bound"].dump(), " bytes")),
      std::string::npos);
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
  for (const char* const passes : {"1", "2"}) {
    const Ended ended = plan({"--sweep", "--out", path("sweep.svg"), "--clip-norm", "1", "--clip-passes", passes});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_NE(ended.out.find("overhead, predicted"), std::string::npos);
    std::stringstream svg;
    svg << std::ifstream(path("sweep.svg")).rdbuf();
    EXPECT_NE(svg.str().find("class=\"point\""), std::string::npos) << passes;
  }
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
    const MemorySetting changed = memory_setting("level=2", options.program.memory);
    const Programs programs = build_programs(options.program);
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
