#include "train/search/kernel_costs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class KernelCosts : public RunTest {
 protected:
  Ended plan(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"plan",      "--model", path("small.json"), "--json",      "--memopt", "level=3",
                                     "--threads", "1",       "--costs",          path("c.json")};
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  }
  nlohmann::json file() const { return nlohmann::json::parse(bytes_in(path("c.json"))); }
};

TEST_F(KernelCosts, EachKernelIsMeasuredOnceAndKept) {
  ASSERT_EQ(plan({}).code, 0);
  const nlohmann::json first = file();
  EXPECT_GT(first.at("seconds").size(), 15U);
  for (const auto& [signature, seconds] : first.at("seconds").items()) EXPECT_GT(seconds, 0) << signature;
  ASSERT_EQ(plan({}).code, 0);
  EXPECT_EQ(file(), first);
  ASSERT_EQ(plan({"--batch", "5"}).code, 0);
  EXPECT_GT(file().at("seconds").size(), first.at("seconds").size());
}

TEST_F(KernelCosts, WhatWasMeasuredStaysIfPlanningEndsEarly) {
  Program program;
  program.vars = {{.name = "x", .shape = {64}}, {.name = "y", .shape = {64}}};
  const Op op{.type = "relu", .in = {0}, .out = {1}};
  const SecondsOf costs = measured_costs({.threads = 1}, path("c.json"));
  const double seconds = costs(program, op);
  EXPECT_EQ(file().at("seconds").size(), 1U) << "it is written before the last of its users is gone";
  EXPECT_EQ(costs(program, op), seconds);
}

TEST_F(KernelCosts, DecideWhatIsComputedAgain) {
  const std::vector<std::string> of_resnet = {"--model", "resnet20", "--batch", "4", "--eval-every", "0"};
  ASSERT_EQ(plan(of_resnet).code, 0);
  nlohmann::json costs = file();
  const auto recomputed_if_costly = [&](const char* costly) {
    for (auto& [signature, seconds] : costs.at("seconds").items())
      seconds = signature.rfind(costly, 0) == 0 ? 1.0 : 1e-3;
    std::ofstream(path("c.json")) << costs;
    std::vector<std::string> args = of_resnet;
    args.insert(args.end(), {"--overhead", "3%"});
    const Ended ended = plan(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out).at("recomputed").at("flops").get<std::int64_t>();
  };
  EXPECT_EQ(recomputed_if_costly("conv2df32"), 0) << "a convolution is far more than 3 %";
  EXPECT_GT(recomputed_if_costly("conv2d_grad_weight"), 0);
}

TEST_F(KernelCosts, OfAKindOfProcessorsAreTheSameEverywhere) {
  const auto plan_of = [&](const std::string& costs, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"plan",     "--model", "resnet20",   "--batch", "4",       "--eval-every", "0",
                                     "--memopt", "level=3", "--overhead", "20%",     "--costs", costs};
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  };
  const Ended text = plan_of("avx512");
  EXPECT_PRED2(says, text.out, " of a step, predicted by costs of avx512");
  const auto json = nlohmann::json::parse(plan_of("avx512", {"--json"}).out);
  EXPECT_EQ(json["recomputed"]["costs"], "avx512");
  EXPECT_GT(json["overhead"], 0);
  EXPECT_FALSE(std::filesystem::exists("avx512"));
  EXPECT_PRED2(says, plan_of("amx").err, "--costs: no costs of 'amx' are shipped; there are those of avx2, avx512");
  EXPECT_PRED2(says, plan_of("avx512", {"--device", "h100"}).err, "--costs avx512 is of a CPU; the device is h100");
}

TEST_F(KernelCosts, WhatIsWrongWithTheFileIsSaid) {
  const auto complaint = [&](const std::string& text, const std::vector<std::string>& more = {}) {
    if (!text.empty()) std::ofstream(path("c.json")) << text;
    const Ended ended = plan(more);
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  };
  EXPECT_PRED2(says, complaint("{"), "c.json:1:");
  EXPECT_PRED2(says, complaint("{}"), "version");
  std::filesystem::remove(path("c.json"));
  ASSERT_EQ(plan({}).code, 0);
  EXPECT_PRED2(says, complaint("", {"--threads", "2"}), "it was measured with threads 1, here that is 2");
  EXPECT_PRED2(says, complaint("", {"--memopt", "level=2"}), "--costs is of --memopt level=3; this is level=2");
}

}  // namespace
}  // namespace lethe::testing
