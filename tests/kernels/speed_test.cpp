// What must not become slow unseen: kernels of ours, beside the plain ones.
#include <gtest/gtest.h>

#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/time_ratio.h"

namespace lethe::testing {
namespace {

/// Measured 0.45, where the other one runs at what the machine can do at most.
TEST(Speed, WinogradTakesLessThanSumsOfProducts) {
  if (!kIsFast) GTEST_SKIP() << "not built for speed";
  const Workers workers(1);
  const ConvShape s{
      .batch = 8, .channels = 64, .filters = 64, .in = {28, 28}, .out = {28, 28}, .kernel = {3, 3}, .pad = {1, 1}};
  const std::vector<float> image(static_cast<std::size_t>(8 * 28 * 28 * 64), 0.5F), weight(64 * 9 * 64, 0.25F);
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
    const bool is_weight = pass == ConvPass::GradWeight;
    const auto fast = prepare_conv(pass, s, {}, DType::f32, {.threads = 1});
    const auto plain = prepare_conv(pass, s, {}, DType::f32, {.threads = 1, .winograd = false});
    const std::vector<std::vector<float>> inputs = {image, is_weight ? image : weight};
    const std::int64_t out = std::ssize(is_weight ? weight : image);
    const auto runs = [&](const Kernel& kernel) { return [&] { run_kernel<float>(kernel, inputs, out); }; };
    EXPECT_LT(time_ratio(runs(*fast), runs(*plain)), 0.8);
  }
}

}  // namespace
}  // namespace lethe::testing
