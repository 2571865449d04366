// Convolutions and products of bf16: widened to f32 piece by piece, and as they are.
#include <gtest/gtest.h>

#include "kernels/conv/providers.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/gemm/providers.h"
#include "kernels/low_floats.h"
#include "kernels/provider.h"
#include "tests/kernels/conv_definition.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

/// Eleven images: rounds of two of the wide copies, and a rest of one.
const ConvShape kFewAtATime{
    .batch = 11, .channels = 16, .filters = 16, .in = {64, 64}, .out = {64, 64}, .kernel = {3, 3}, .pad = {1, 1}};

std::vector<float> wide(const std::vector<Bf16>& values) { return {values.begin(), values.end()}; }

/// Each element as f32 has it but for the last rounding, and for sums in another order.
void expect_rounded(const std::vector<Bf16>& got, const std::vector<float>& want, float most_sum) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(compute(got[i]), want[i], std::abs(want[i]) / 256 + most_sum * 1e-6F) << "element " << i;
}

/// A product of bf16 that is written in f32, or added to what is there, against the same in f32: nothing is rounded.
void expect_unrounded(const Kernel& low, const GemmShape& s) {
  const auto a = random_values<Bf16>(s.batch * s.m * s.k, 1), b = random_values<Bf16>(s.batch * s.k * s.n, 2);
  GemmShape plain = s;
  plain.wide_c = plain.accumulate = false;
  const auto exact = prepare_gemm(plain, DType::f32, {.threads = 2});
  const auto want = run_kernel<float>(*exact, {wide(a), wide(b)}, s.batch * s.m * s.n);
  const float before = s.accumulate ? 1 : std::numeric_limits<float>::quiet_NaN();
  const auto got = run_kernel<Bf16, float>(low, {a, b}, s.batch * s.m * s.n, before);
  const float most_sum = static_cast<float>(s.k);
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i] + (s.accumulate ? 1 : 0), most_sum * 1e-6F) << "element " << i;
}

/// A pass in bf16 against the same in f32.
void expect_as_in_f32(const Kernel& low, ConvPass pass, const ConvShape& s, bool bias, float most_sum) {
  const auto x = random_values<Bf16>(x_size(s), 1), dy = random_values<Bf16>(y_size(s), 2),
             w = random_values<Bf16>(weight_size(s), 3), b = random_values<Bf16>(s.filters, 4);
  std::vector<std::vector<Bf16>> in = {pass == ConvPass::GradInput ? dy : x, pass == ConvPass::GradWeight ? dy : w};
  if (bias) in.push_back(b);
  std::vector<std::vector<float>> wide_in;
  for (const auto& values : in) wide_in.push_back(wide(values));
  const std::int64_t out = pass == ConvPass::Forward     ? y_size(s)
                           : pass == ConvPass::GradInput ? x_size(s)
                                                         : weight_size(s);
  const auto exact = prepare_conv(pass, s, {.bias = bias}, DType::f32, {.threads = 2, .winograd = false});
  expect_rounded(run_kernel<Bf16>(low, in, out), run_kernel<float>(*exact, wide_in, out), most_sum);
}

TEST(Widened, ConvolutionsInRoundsGiveThatOfAllImages) {
  const ConvShape& s = kFewAtATime;
  const DeviceInfo cpu{.threads = 2, .winograd = false};
  const auto check_pass = [&](ConvPass pass, bool bias, float most_sum) {
    const auto low = prepare_conv_widened(pass, s, bias, DType::bf16, cpu);
    const auto exact = prepare_conv(pass, s, {.bias = bias}, DType::f32, cpu);
    EXPECT_LT(low->workspace_bytes(), exact->workspace_bytes() + x_size(s) * 4) << "as much as all images in f32";
    expect_as_in_f32(*low, pass, s, bias, most_sum);
  };
  check_pass(ConvPass::Forward, true, 12);
  check_pass(ConvPass::GradInput, false, 12);
  check_pass(ConvPass::GradWeight, false, 400);
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

TEST(Widened, ProductsWrittenWideAreNotRounded) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 3001}, {3001, 5}, {1000, 1500}}) {
    GemmShape s{.batch = 2, .m = m, .n = n, .k = 1100, .transpose_a = true, .wide_c = true};
    const auto low = prepare_gemm_widened(s, DType::bf16, {.threads = 2});
    EXPECT_LT(low->workspace_bytes(), 14 << 20) << "a, b and a slab of the result take more together";
    expect_unrounded(*low, s);
    s.accumulate = true;
    expect_unrounded(*prepare_gemm_widened(s, DType::bf16, {.threads = 2}), s);
  }
}

class Native : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!onednn_serves(DType::bf16)) GTEST_SKIP() << "this processor has no products of bf16, or oneDNN is missing";
  }
  /// What the rule takes, or where it widens, oneDNN all the same.
  const Provider provider_ = multiplies_on_cpu(DType::bf16) ? Provider::Best : Provider::OneDnn;
};

TEST_F(Native, ConvolutionsGiveThoseOfF32ButForRounding) {
  const DeviceInfo cpu{.threads = 2};
  const std::vector<ConvShape> shapes = {
      {.batch = 3, .channels = 32, .filters = 48, .in = {14, 9}, .kernel = {3, 3}, .pad = {1, 1}},
      {.batch = 2, .channels = 64, .filters = 16, .in = {7, 7}, .kernel = {1, 1}},
      {.batch = 2, .channels = 3, .filters = 16, .in = {32, 32}, .kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}},
      {.batch = 2, .channels = 32, .filters = 32, .groups = 4, .in = {9, 9}, .kernel = {3, 3}, .pad = {1, 1}}};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
      SCOPED_TRACE(::testing::Message() << "shape " << i << ", pass " << static_cast<int>(pass));
      const ConvShape s = with_out(shapes[i]);
      const bool bias = pass == ConvPass::Forward;
      const auto kernel = prepare_conv(pass, s, {.bias = bias}, DType::bf16, cpu, provider_);
      expect_as_in_f32(*kernel, pass, s, bias, pass == ConvPass::GradWeight ? 600 : 300);
      EXPECT_EQ(kernel->implementation().find("widened"), std::string::npos) << kernel->implementation();
    }
}

/// AVX-512's instructions for bf16 are there and slow, and there is no AMX.
TEST(Widened, IsTakenWhereInstructionsForBf16AreSlow) {
  if (!onednn_serves(DType::bf16) || onednn_has_tiles() || !has_slow_bf16())
    GTEST_SKIP() << "this processor has AMX, no products of bf16, or fast ones, or oneDNN is missing";
  const GemmShape s{.m = 64, .n = 64, .k = 64};
  const auto by = [&](Provider provider) { return prepare_gemm(s, DType::bf16, {}, provider)->implementation(); };
  EXPECT_NE(by(Provider::Best).find("widened"), std::string::npos);
  EXPECT_EQ(by(Provider::OneDnn).find("widened"), std::string::npos) << "asked for by name";
  EXPECT_NE(cpu_provider().find("widened"), std::string::npos);
}

TEST_F(Native, ProductsGiveThoseOfF32ButForRounding) {
  const DeviceInfo cpu{.threads = 2};
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      const GemmShape s{.m = 70, .n = 33, .k = 130, .transpose_a = transpose_a, .transpose_b = transpose_b};
      const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2);
      const auto low = prepare_gemm(s, DType::bf16, cpu, provider_), exact = prepare_gemm(s, DType::f32, cpu);
      EXPECT_EQ(low->implementation().find("widened"), std::string::npos) << low->implementation();
      expect_rounded(run_kernel<Bf16>(*low, {a, b}, s.m * s.n),
                     run_kernel<float>(*exact, {wide(a), wide(b)}, s.m * s.n), 130);
    }
}

TEST_F(Native, ProductsWrittenWideAreNotRounded) {
  for (const std::int64_t batch : {1, 2})
    for (const auto& [transpose_a, accumulate] : {std::pair{false, false}, {true, false}, {true, true}}) {
      const GemmShape s{.batch = batch,
                        .m = 70,
                        .n = 33,
                        .k = 130,
                        .transpose_a = transpose_a,
                        .wide_c = true,
                        .accumulate = accumulate};
      const auto low = prepare_gemm(s, DType::bf16, {.threads = 2}, provider_);
      EXPECT_EQ(low->implementation().find("widened"), std::string::npos) << low->implementation();
      expect_unrounded(*low, s);
    }
}

}  // namespace
}  // namespace lethe::testing
