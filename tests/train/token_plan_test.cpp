// `train plan` of networks of sequences: tokens, whose the activations are, the largest context.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "tests/support/environment.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/report/plan_report.h"
#include "train/session/device.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

class TokenPlan : public RunTest {
 protected:
  Ended plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", "--model", "char_gpt_cpu", "--threads", "1"});
    return run_train(more);
  }
  json figures(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Ended ended = plan(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return json::parse(ended.out);
  }
};

TEST_F(TokenPlan, SaysWhoseTheActivationsAre) {
  const json tokens = figures({"--batch", "2", "--eval-every", "0"})["tokens"];
  EXPECT_EQ(tokens["context"], 64);
  EXPECT_EQ(tokens["step"], 128);
  constexpr std::int64_t kRows = 2 * 64, kLayers = 4, kWidth = 128, kHeads = 4, kFloat = 4;
  EXPECT_EQ(tokens["kept"]["attention"], kLayers * kRows * (3 * kWidth + kWidth + kHeads) * kFloat)
      << "packed rows, outputs, logarithms of sums";
  const Ended text = plan({"--batch", "2"});
  EXPECT_PRED2(says, text.out, "char_gpt_cpu: batch 2 of 64 tokens, 128 a step, f32");
  EXPECT_PRED2(says, text.out, "kept for backward");
}

TEST_F(TokenPlan, ThePartsAddUpToTheCategories) {
  std::vector<const char*> models = {"char_gpt_cpu", "transformer"};
  if (takes_all_networks()) models.push_back("llama");
  for (const char* memopt : {"none", "level=1", "level=2", "level=3"})
    for (const char* model : models) {
      const Options options =
          decided(parse_options({"plan", "--model", model, "--batch", "1", "--memopt", memopt, "--threads", "1"}));
      const PlanReport report = report_plan(options.program, device_info(options.device));
      const BytesBy& bytes = report.row().peak.bytes;
      const auto of = [&](Category category) { return bytes[static_cast<std::size_t>(category)]; };
      EXPECT_EQ(std::accumulate(report.parts.peak.begin(), report.parts.peak.end(), std::int64_t{0}),
                of(Category::Activations) + of(Category::ActivationGrads) + of(Category::Workspace))
          << model << ", " << memopt;
    }
}

TEST_F(TokenPlan, TheLargestContextIsThatWhichOneMoreWouldNotFit) {
  const std::int64_t budget = 6'000'000;
  std::int64_t before_it = 64;
  for (const char* memopt : {"level=2", "level=3"}) {
    const json found = figures({"--set", "layers=1", "--batch", "2", "--context", "auto", "--memory-budget",
                                std::to_string(budget), "--memopt", memopt, "--eval-every", "0"});
    const std::int64_t context = found["tokens"]["context"];
    EXPECT_GT(context, before_it);
    before_it = context;
    EXPECT_LE(found["bytes"]["peak"], budget);
    const auto peak = [&](std::int64_t length, const char* option, const char* before) {
      std::vector<std::string> args = {
          "--set",    "layers=1", "--batch",      "2", option, before + std::to_string(length),
          "--memopt", memopt,     "--eval-every", "0"};
      if (memopt == std::string("level=3")) args.insert(args.end(), {"--overhead", "10%"});
      return figures(args)["bytes"]["peak"].get<std::int64_t>();
    };
    EXPECT_GT(peak(context + 1, "--context", ""), budget);
    EXPECT_EQ(peak(context, "--context", ""), peak(context, "--set", "length="));
  }
}

TEST_F(TokenPlan, SaysWhichContextWouldFit) {
  const Ended ended = plan({"--set", "layers=1", "--memory-budget", "8MB", "--memopt", "level=2"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_PRED2(says, ended.out, "--context 32");
  const std::size_t at = ended.out.find("--context ");
  const std::int64_t largest = std::stoll(ended.out.substr(at + 10));
  const auto peak = [&](std::int64_t context) {
    return figures({"--set", "layers=1", "--context", std::to_string(context)})["bytes"]["peak"].get<std::int64_t>();
  };
  EXPECT_LE(peak(largest), 8'000'000);
  EXPECT_GT(peak(largest + 1), 8'000'000);
}

TEST_F(TokenPlan, RefusesAContextWhereThereIsNone) {
  const auto refused = [](std::vector<std::string> args, const std::string& words, int code = 2) {
    args.insert(args.begin(), "plan");
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code);
    EXPECT_PRED2(says, ended.err, words);
  };
  refused({"--model", "lenet", "--context", "8"}, "--context: lenet has no var 'length'");
  refused({"--model", "lenet", "--context", "auto", "--memory-budget", "1GiB"}, "lenet has no var 'length'");
  refused({"--model", "char_gpt_cpu", "--context", "0"}, "--context: must be at least 1, not 0");
  refused({"--model", "char_gpt_cpu", "--context", "8", "--set", "length=9"}, "say the same; give one of them");
  refused({"--model", "char_gpt_cpu", "--context", "auto"}, "--context auto needs --memory-budget");
  refused({"--model", "char_gpt_cpu", "--context", "auto", "--batch", "auto"}, "one of them has to be a number");
  refused({"--model", "char_gpt_cpu", "--context", "auto", "--memory-budget", "100"},
          "not even a context of 1 fits into 100 bytes", 3);
}

}  // namespace
}  // namespace lethe::testing
