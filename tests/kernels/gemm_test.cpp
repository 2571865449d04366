#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/error.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workers.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

template <class T>
std::vector<double> by_definition(const GemmShape& s, const std::vector<T>& a, const std::vector<T>& b,
                                  const std::vector<T>& bias) {
  std::vector<double> c(static_cast<std::size_t>(s.batch * s.m * s.n));
  for (std::int64_t i = 0; i < s.batch; ++i)
    for (std::int64_t row = 0; row < s.m; ++row)
      for (std::int64_t column = 0; column < s.n; ++column) {
        double& sum = c[(i * s.m + row) * s.n + column];
        if (s.epilogue.bias) sum = bias[column];
        for (std::int64_t k = 0; k < s.k; ++k)
          sum += double{a[i * s.m * s.k + (s.transpose_a ? k * s.m + row : row * s.k + k)]} *
                 b[i * s.k * s.n + (s.transpose_b ? column * s.k + k : k * s.n + column)];
      }
  return c;
}

template <class T>
void compare(const GemmShape& s, DType dtype, int threads, Provider provider) {
  SCOPED_TRACE(message(s.batch, " of ", s.m, 'x', s.n, 'x', s.k, s.transpose_a ? " a^T" : "",
                       s.transpose_b ? " b^T" : "", s.epilogue.bias ? " + bias" : "", s.accumulate ? ", added" : "",
                       ", ", threads, " threads"));
  const auto a = random_values<T>(s.batch * s.m * s.k, 1), b = random_values<T>(s.batch * s.k * s.n, 2);
  const auto bias = random_values<T>(s.n, 3);
  const auto want = by_definition(s, a, b, bias);
  const auto kernel = prepare_gemm(s, dtype, {.threads = threads}, provider);
  const T before = s.accumulate ? T(0.5) : std::numeric_limits<T>::quiet_NaN();
  const auto got =
      run_kernel<T>(*kernel, {a, b, s.epilogue.bias ? bias : std::vector<T>{}}, s.batch * s.m * s.n, before);
  const double tolerance =
      std::max(16.0, static_cast<double>(s.k)) * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(got[i], want[i] + (s.accumulate ? 0.5 : 0.0), tolerance * std::max(1.0, std::abs(want[i])));
}

void compare_all_products(DType dtype, Provider provider) {
  struct Size {
    std::int64_t batch, m, n, k;
  };
  for (const int threads : {1, 2, 3}) {
    const Workers workers(threads);
    for (const Size size : {Size{1, 1, 1, 1},
                            {1, 5, 7, 3},
                            {1, 128, 10, 84},
                            {1, 3, 130, 400},
                            {1, 67, 65, 129},
                            {4, 9, 5, 6},
                            {2, 33, 70, 31}})
      for (const bool transpose_a : {false, true})
        for (const bool transpose_b : {false, true})
          for (const char* ending : {"", "bias", "accumulate"}) {
            GemmShape shape{size.batch, size.m, size.n, size.k, transpose_a, transpose_b};
            shape.epilogue.bias = ending == std::string("bias");
            shape.accumulate = ending == std::string("accumulate");
            if (dtype == DType::f64)
              compare<double>(shape, dtype, threads, provider);
            else
              compare<float>(shape, dtype, threads, provider);
          }
  }
}

TEST(Gemm, EigenInDoubleFollowsTheDefinition) { compare_all_products(DType::f64, Provider::Eigen); }
TEST(Gemm, EigenInFloatFollowsTheDefinition) { compare_all_products(DType::f32, Provider::Eigen); }
TEST(Gemm, OneDnnFollowsTheDefinition) {
  if (!has_onednn()) GTEST_SKIP() << "oneDNN is not built in";
  compare_all_products(DType::f32, Provider::OneDnn);
}

TEST(Gemm, SameThreadsGiveSameBits) {
  const GemmShape shape{.m = 200, .n = 100, .k = 1000, .transpose_a = true};
  const auto a = random_values<float>(200 * 1000, 1), b = random_values<float>(1000 * 100, 2);
  for (const Provider provider : {Provider::Best, Provider::Eigen}) {
    const auto kernel = prepare_gemm(shape, DType::f32, {.threads = worker_threads()}, provider);
    const auto first = run_kernel<float>(*kernel, {a, b}, 200 * 100);
    for (int again = 0; again < 5; ++again) EXPECT_EQ(run_kernel<float>(*kernel, {a, b}, 200 * 100), first);
  }
}

TEST(Gemm, IntegersAreRefused) { EXPECT_THROW(prepare_gemm({.m = 1, .n = 1, .k = 1}, DType::i32, {}), Error); }

}  // namespace
}  // namespace lethe::testing
