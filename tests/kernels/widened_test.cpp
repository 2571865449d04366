#include <gtest/gtest.h>

#include "kernels/conv/providers.h"
#include "kernels/gemm/providers.h"
#include "kernels/low_floats.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

/// Five images of 4 MiB in f32: more than one round of the wide copies, and a rest.
const ConvShape kFewAtATime{
    .batch = 5, .channels = 16, .filters = 16, .in = {256, 128}, .out = {256, 128}, .kernel = {3, 3}, .pad = {1, 1}};

std::vector<float> wide(const std::vector<Bf16>& values) { return {values.begin(), values.end()}; }

/// Each element as f32 has it but for the last rounding, and for sums in another order.
void expect_rounded(const std::vector<Bf16>& got, const std::vector<float>& want, float most_sum) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(compute(got[i]), want[i], std::abs(want[i]) / 256 + most_sum * 1e-6F) << "element " << i;
}

TEST(Widened, ConvolutionsInRoundsGiveThatOfAllImages) {
  const ConvShape& s = kFewAtATime;
  const DeviceInfo cpu{.threads = 2, .winograd = false};
  const std::int64_t images = s.batch * s.in[0] * s.in[1] * s.channels, weights = s.filters * 9 * s.channels;
  const auto x = random_values<Bf16>(images, 1), dy = random_values<Bf16>(images, 2),
             w = random_values<Bf16>(weights, 3), bias = random_values<Bf16>(s.filters, 4);
  const auto check_pass = [&](ConvPass pass, bool with_bias, const std::vector<std::vector<Bf16>>& in, std::int64_t out,
                              float most_sum) {
    const auto low = prepare_conv_widened(pass, s, with_bias, DType::bf16, cpu);
    std::vector<std::vector<float>> wide_in;
    for (const auto& values : in) wide_in.push_back(wide(values));
    const auto exact = prepare_conv(pass, s, {.bias = with_bias}, DType::f32, cpu);
    EXPECT_LT(low->workspace_bytes(), exact->workspace_bytes() + images * 4) << "as much as all images in f32";
    expect_rounded(run_kernel<Bf16>(*low, in, out), run_kernel<float>(*exact, wide_in, out), most_sum);
  };
  check_pass(ConvPass::Forward, true, {x, w, bias}, images, 12);
  check_pass(ConvPass::GradInput, false, {dy, w}, images, 12);
  check_pass(ConvPass::GradWeight, false, {x, dy}, weights, 400);
}

TEST(Widened, StacksOfProducts) {
  const GemmShape s{.batch = 3, .m = 5, .n = 7, .k = 11, .transpose_b = true, .epilogue = {.bias = true}};
  const DeviceInfo cpu{.threads = 2};
  const auto a = random_values<Bf16>(s.batch * s.m * s.k, 1), b = random_values<Bf16>(s.batch * s.n * s.k, 2),
             bias = random_values<Bf16>(s.n, 3);
  const auto got = run_kernel<Bf16>(*prepare_gemm_widened(s, DType::bf16, cpu), {a, b, bias}, s.batch * s.m * s.n);
  const auto exact = prepare_gemm(s, DType::f32, cpu);
  expect_rounded(got, run_kernel<float>(*exact, {wide(a), wide(b), wide(bias)}, s.batch * s.m * s.n), 12);
}

/// Both ways to cut, with a rest, for plain and transposed operands.
TEST(Widened, ProductsInSlabsGiveThatOfWholeMatrices) {
  const DeviceInfo cpu{.threads = 2};
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 3001}, {3001, 5}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const GemmShape s{.m = m,
                          .n = n,
                          .k = 1100,
                          .transpose_a = transpose_a,
                          .transpose_b = transpose_b,
                          .epilogue = {.bias = true}};
        const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2),
                   bias = random_values<Bf16>(s.n, 3);
        const auto low = prepare_gemm_widened(s, DType::bf16, cpu), exact = prepare_gemm(s, DType::f32, cpu);
        EXPECT_LT(low->workspace_bytes(), (9 << 20) + exact->workspace_bytes());
        expect_rounded(run_kernel<Bf16>(*low, {a, b, bias}, s.m * s.n),
                       run_kernel<float>(*exact, {wide(a), wide(b), wide(bias)}, s.m * s.n), 1100);
      }
}

}  // namespace
}  // namespace lethe::testing
