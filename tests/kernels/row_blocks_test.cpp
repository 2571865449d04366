#include "kernels/gemm/row_blocks.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

const DeviceInfo kBothThreads{.threads = 2};

GemmShape gradient(std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  return {.m = rows, .n = columns, .k = terms, .transpose_a = true};
}

TEST(RowBlocks, AreOfLargeGradientsOfFewTermsAlone) {
  EXPECT_TRUE(is_in_row_blocks(gradient(2048, 4096, 512), DType::f32));
  EXPECT_FALSE(is_in_row_blocks(gradient(2047, 4096, 512), DType::f32));
  EXPECT_FALSE(is_in_row_blocks(gradient(2048, 4096, 513), DType::f32));
  EXPECT_TRUE(is_in_row_blocks(gradient(1024, 4096, 1), DType::f64));
  EXPECT_FALSE(is_in_row_blocks(gradient(16, 1 << 20, 1), DType::f32)) << "one block is no less than all of it";
  GemmShape forward = gradient(2048, 4096, 512);
  forward.transpose_a = false;
  EXPECT_FALSE(is_in_row_blocks(forward, DType::f32));
}

/// The last block has two rows.
TEST(RowBlocks, GiveTheProduct) {
  const GemmShape s = gradient(2050, 4096, 5);
  ASSERT_TRUE(is_in_row_blocks(s, DType::f32));
  const std::vector<float> a = random_values<float>(s.k * s.m, 1), b = random_values<float>(s.k * s.n, 2);
  const auto kernel = prepare_gemm(s, DType::f32, kBothThreads);
  EXPECT_NE(kernel->implementation().find("blocks of rows"), std::string::npos) << kernel->implementation();
  const std::vector<float> c = run_kernel<float>(*kernel, {a, b}, s.m * s.n);
  double largest = 0;
  for (std::int64_t i = 0; i < s.m * s.n; ++i) {
    double sum = 0;
    for (std::int64_t k = 0; k < s.k; ++k) sum += double{a[k * s.m + i / s.n]} * b[k * s.n + i % s.n];
    largest = std::max(largest, std::abs(c[i] - sum));
  }
  EXPECT_LT(largest, 1e-6);
}

TEST(RowBlocks, TakeLittleMemory) {
  const GemmShape s = gradient(4096, 9216, 32);
  EXPECT_LT(RowBlocks(s, DType::f32, kBothThreads).workspace_bytes(), 1 << 20);
}

}  // namespace
}  // namespace lethe::testing
