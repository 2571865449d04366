// f32 convolutions computed as three products of bf16, by AMX or by what stands for its tiles, against double.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kernels/conv/providers.h"
#include "tests/kernels/conv_definition.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

using Values = std::vector<float>;

const DeviceInfo kFast{.threads = 2, .fast_f32 = true}, kPlain{.threads = 2, .winograd = false};

double squared_error(const Values& got, const std::vector<double>& want) {
  double sum = 0;
  for (std::size_t i = 0; i < want.size(); ++i) sum += (got[i] - want[i]) * (got[i] - want[i]);
  return sum;
}

double squared_norm(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

bool is_fast(const Kernel& kernel) { return kernel.implementation().find("three bf16 products") != std::string::npos; }

/// At most 5e-6 of the results' norm, as three products keep 16 bits of each factor, and twenty times that of oneDNN's
/// f32 on a processor with AVX-512, as any with AMX is (the sums that it takes with AVX2 are off by less). And more
/// than f32's, which shows that it is they.
void expect_error(ConvPass pass, const ConvShape& s) {
  const bool is_forward = pass == ConvPass::Forward;
  std::vector<Values> in = {random_values<float>(is_forward ? x_size(s) : y_size(s), 1),
                            random_values<float>(weight_size(s), 2)};
  if (is_forward) in.push_back(random_values<float>(s.filters, 3));
  const std::int64_t size = is_forward ? y_size(s) : x_size(s);
  const auto kernel = [&](DType dtype, const DeviceInfo& device) {
    return prepare_conv(pass, s, {.bias = is_forward}, dtype, device);
  };
  const auto fast = kernel(DType::f32, kFast);
  ASSERT_TRUE(is_fast(*fast)) << fast->implementation();
  std::vector<std::vector<double>> wide;
  for (const Values& values : in) wide.emplace_back(values.begin(), values.end());
  const std::vector<double> want = run_kernel<double>(*kernel(DType::f64, kPlain), wide, size);
  const double of_fast = squared_error(run_kernel<float>(*fast, in, size), want),
               of_plain = squared_error(run_kernel<float>(*kernel(DType::f32, kPlain), in, size), want);
  EXPECT_LT(std::sqrt(of_fast / squared_norm(want)), 5e-6);
  const double ratio = std::sqrt(of_fast / of_plain);
  EXPECT_TRUE(!onednn_serves(DType::bf16) || ratio < 20) << ratio;
  EXPECT_GT(of_fast, of_plain);
}

TEST(FastF32, ConvolutionsAreOffByLittle) {
  const std::vector<ConvShape> shapes = {
      {.batch = 3, .channels = 64, .filters = 48, .in = {14, 9}, .kernel = {3, 3}, .pad = {1, 1}},
      {.batch = 2, .channels = 30, .filters = 37, .in = {7, 11}, .kernel = {5, 3}, .pad = {2, 0}},  // parts of tiles
      {.batch = 1, .channels = 256, .filters = 272, .in = {6, 5}, .kernel = {1, 1}},
      {.batch = 6, .channels = 128, .filters = 88, .in = {12, 100}, .kernel = {3, 1}, .pad = {1, 0}},  // bands of 8, 4
  };
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput}) {
      SCOPED_TRACE(::testing::Message() << "shape " << i << ", pass " << static_cast<int>(pass));
      expect_error(pass, with_out(shapes[i]));
    }
}

/// Each result by an element of the image that is not finite is not, and none but those and, where a row of the kernel
/// is no whole tile, two columns before them.
TEST(FastF32, WhatIsNotFiniteStaysSo) {
  for (const std::int64_t channels : {32, 40}) {
    const std::int64_t beside = channels == 32 ? 0 : 2;
    const ConvShape s =
        with_out({.batch = 1, .channels = channels, .filters = 20, .in = {8, 8}, .kernel = {3, 3}, .pad = {1, 1}});
    const Values x(static_cast<std::size_t>(x_size(s)), 1.0F), w(static_cast<std::size_t>(weight_size(s)), 1.0F);
    const auto kernel = prepare_conv(ConvPass::Forward, s, {}, DType::f32, kFast);
    ASSERT_TRUE(is_fast(*kernel));
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Values one_odd = x;
      one_odd[static_cast<std::size_t>((3 * 8 + 5) * s.channels + 7)] = odd;
      const Values y = run_kernel<float>(*kernel, {one_odd, w}, y_size(s));
      for (std::int64_t i = 0; i < y_size(s); ++i) {
        const std::int64_t row = i / s.filters / 8, column = i / s.filters % 8;
        const bool is_finite = std::isfinite(y[static_cast<std::size_t>(i)]), is_near = std::abs(row - 3) <= 1;
        const bool reads_it = is_near && std::abs(column - 5) <= 1;
        const bool may_read_it = is_near && column >= 4 - beside && column <= 6;
        EXPECT_TRUE(is_finite ? !reads_it : may_read_it) << channels << " channels, " << row << ", " << column;
      }
    }
  }
}

TEST(FastF32, ThreadsChangeNoBit) {
  const ConvShape s =
      with_out({.batch = 2, .channels = 32, .filters = 24, .in = {13, 10}, .kernel = {3, 3}, .pad = {1, 1}});
  const Values x = random_values<float>(x_size(s), 1), w = random_values<float>(weight_size(s), 2);
  const auto result = [&](int threads) {
    return run_kernel<float>(*prepare_conv_fast_f32(ConvPass::Forward, s, false, threads), {x, w}, y_size(s));
  };
  EXPECT_EQ(result(1), result(3));
}

/// Gradients of weights, strides, groups and short sums.
TEST(FastF32, OthersAreF32s) {
  const ConvShape s = {.batch = 2, .channels = 32, .filters = 32, .in = {12, 12}, .kernel = {3, 3}, .pad = {1, 1}};
  const auto are_fast = [](ConvPass pass, ConvShape shape) {
    return is_fast(*prepare_conv(pass, with_out(shape), {}, DType::f32, kFast));
  };
  EXPECT_TRUE(are_fast(ConvPass::Forward, s) && are_fast(ConvPass::GradInput, s));
  EXPECT_FALSE(are_fast(ConvPass::GradWeight, s));
  ConvShape other = s;
  other.stride = {2, 2};
  EXPECT_FALSE(are_fast(ConvPass::Forward, other));
  other = s, other.groups = 2;
  EXPECT_FALSE(are_fast(ConvPass::Forward, other));
  other = s, other.kernel = {1, 1}, other.pad = {0, 0}, other.channels = 256, other.filters = 128;
  EXPECT_FALSE(are_fast(ConvPass::Forward, other));
  other = s, other.channels = 28;  // of 9 places: 252 terms
  EXPECT_FALSE(are_fast(ConvPass::Forward, other));
  EXPECT_TRUE(are_fast(ConvPass::GradInput, other));
}

TEST(SlowF32, IsAsItWas) {
  const ConvShape s =
      with_out({.batch = 2, .channels = 32, .filters = 32, .in = {12, 12}, .kernel = {3, 3}, .pad = {1, 1}});
  EXPECT_FALSE(is_fast(*prepare_conv(ConvPass::Forward, s, {}, DType::f32, {.threads = 2})));
}

}  // namespace
}  // namespace lethe::testing
