// What must not become slow unseen: ratios of kernels that run in turn, so that other work on the machine slows both.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "kernels/conv/providers.h"
#include "kernels/cpu/workers.h"
#include "tests/support/kernel_runner.h"

namespace lethe::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || !defined(NDEBUG)
constexpr bool kIsFast = false;
#else
constexpr bool kIsFast = true;
#endif

/// The least of some runs, of `a` over that of `b`; they have the same operands.
double ratio(const Kernel& a, const Kernel& b, const std::vector<std::vector<float>>& inputs, std::int64_t out) {
  constexpr int kRounds = 9;
  const auto seconds = [&](const Kernel& kernel) {
    const auto begin = std::chrono::steady_clock::now();
    run_kernel<float>(kernel, inputs, out);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double of_a = 1e9, of_b = 1e9;
  for (int round = 0; round < kRounds; ++round) of_a = std::min(of_a, seconds(a)), of_b = std::min(of_b, seconds(b));
  return of_a / of_b;
}

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
    EXPECT_LT(ratio(*fast, *plain, {image, is_weight ? image : weight}, std::ssize(is_weight ? weight : image)), 0.8);
  }
}

}  // namespace
}  // namespace lethe::testing
