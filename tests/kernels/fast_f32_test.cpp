// f32 computed as three products of bf16, on any processor that multiplies bf16, against double.
#include <gtest/gtest.h>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/conv_definition.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

using Values = std::vector<float>;

class FastF32 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!multiplies_on_cpu(DType::bf16)) GTEST_SKIP() << "this processor has no products of bf16, or oneDNN is missing";
  }
  const DeviceInfo fast_{.threads = 2, .fast_f32 = true}, plain_{.threads = 2, .winograd = false};
};

double squared_error(const Values& got, const std::vector<double>& want) {
  double sum = 0;
  for (std::size_t i = 0; i < want.size(); ++i) sum += (got[i] - want[i]) * (got[i] - want[i]);
  return sum;
}

/// At most twenty times that of f32's own products: three products keep 16 bits of each factor. And more than those',
/// which shows that it is they.
void expect_error(const Kernel& fast, const Kernel& plain, const Kernel& exact, const std::vector<Values>& in,
                  std::int64_t size) {
  EXPECT_NE(fast.implementation().find("three bf16 products"), std::string::npos) << fast.implementation();
  std::vector<std::vector<double>> wide;
  for (const Values& values : in) wide.emplace_back(values.begin(), values.end());
  const std::vector<double> want = run_kernel<double>(exact, wide, size);
  const double of_fast = squared_error(run_kernel<float>(fast, in, size), want),
               of_plain = squared_error(run_kernel<float>(plain, in, size), want);
  EXPECT_LT(std::sqrt(of_fast / of_plain), 20);
  EXPECT_GT(of_fast, of_plain);
}

TEST_F(FastF32, ConvolutionsAreOffByLittle) {
  const std::vector<ConvShape> shapes = {
      {.batch = 12, .channels = 64, .filters = 48, .in = {14, 9}, .kernel = {3, 3}, .pad = {1, 1}},
      {.batch = 64, .channels = 256, .filters = 256, .in = {7, 7}, .kernel = {1, 1}, .stride = {2, 2}},
      {.batch = 16, .channels = 64, .filters = 64, .groups = 2, .in = {9, 9}, .kernel = {3, 3}, .pad = {1, 1}}};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight}) {
      SCOPED_TRACE(::testing::Message() << "shape " << i << ", pass " << static_cast<int>(pass));
      const ConvShape s = with_out(shapes[i]);
      const bool is_forward = pass == ConvPass::Forward, is_of_input = pass == ConvPass::GradInput;
      const Values x = random_values<float>(x_size(s), 1), dy = random_values<float>(y_size(s), 2),
                   w = random_values<float>(weight_size(s), 3);
      std::vector<Values> in = {is_of_input ? dy : x, pass == ConvPass::GradWeight ? dy : w};
      if (is_forward) in.push_back(random_values<float>(s.filters, 4));
      const Epilogue epilogue{.bias = is_forward};
      expect_error(*prepare_conv(pass, s, epilogue, DType::f32, fast_),
                   *prepare_conv(pass, s, epilogue, DType::f32, plain_),
                   *prepare_conv(pass, s, epilogue, DType::f64, plain_), in,
                   is_forward    ? y_size(s)
                   : is_of_input ? x_size(s)
                                 : weight_size(s));
    }
}

TEST_F(FastF32, ProductsAreOffByLittle) {
  for (const std::int64_t batch : {1, 3})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(::testing::Message() << batch << " of " << transpose_a << transpose_b);
        const GemmShape s{.batch = batch,
                          .m = 70,
                          .n = 33,
                          .k = transpose_a && !transpose_b ? 1024 : 256,
                          .transpose_a = transpose_a,
                          .transpose_b = transpose_b,
                          .epilogue = {.bias = true}};
        const std::vector<Values> in = {random_values<float>(batch * s.m * s.k, 1),
                                        random_values<float>(batch * s.k * s.n, 2), random_values<float>(s.n, 3)};
        expect_error(*prepare_gemm(s, DType::f32, fast_), *prepare_gemm(s, DType::f32, plain_),
                     *prepare_gemm(s, DType::f64, plain_), in, batch * s.m * s.n);
      }
}

TEST_F(FastF32, WhatIsNotFiniteStaysSo) {
  const GemmShape s{.m = 2, .n = 1, .k = 256};
  Values a(512, 1.0F), b(256, 1.0F);
  a[3] = std::numeric_limits<float>::infinity();
  a[270] = std::numeric_limits<float>::quiet_NaN();
  for (const float c : run_kernel<float>(*prepare_gemm(s, DType::f32, fast_), {a, b}, 2))
    EXPECT_FALSE(std::isfinite(c));
}

TEST_F(FastF32, ShortSumsAreF32s) {
  const auto is_fast = [](const Kernel& kernel) { return kernel.implementation().find("bf16") != std::string::npos; };
  for (const std::int64_t k : {255, 256})
    EXPECT_EQ(is_fast(*prepare_gemm({.m = 64, .n = 64, .k = k}, DType::f32, fast_)), k == 256);
  const ConvShape s =
      with_out({.batch = 8, .channels = 16, .filters = 64, .in = {12, 12}, .kernel = {3, 3}, .pad = {1, 1}});
  for (const ConvPass pass : {ConvPass::Forward, ConvPass::GradInput, ConvPass::GradWeight})
    EXPECT_EQ(is_fast(*prepare_conv(pass, s, {}, DType::f32, fast_)), pass != ConvPass::Forward);
}

TEST(SlowF32, IsAsItWas) {
  const GemmShape s{.m = 2, .n = 3, .k = 64};
  const std::string way = prepare_gemm(s, DType::f32, {.threads = 2})->implementation();
  EXPECT_EQ(way.find("bf16"), std::string::npos) << way;
}

}  // namespace
}  // namespace lethe::testing
