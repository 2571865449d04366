#include "kernels/gemm/column_blocks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "kernels/cuda/device.h"
#include "kernels/low_floats.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

const DeviceInfo kTwoThreads{.threads = 2};

/// Several blocks of b and a smaller one.
std::vector<GemmShape> shapes() {
  std::vector<GemmShape> all;
  for (const bool transpose_b : {false, true})
    for (const bool wide_c : {false, true})
      all.push_back(
          {.m = 3, .n = 9215, .k = 513, .transpose_b = transpose_b, .epilogue = {.bias = !wide_c}, .wide_c = wide_c});
  all.push_back({.m = 3, .n = 9215, .k = 257, .epilogue = {.bias = true, .relu = true}});
  return all;
}

/// c by a rounded factor, and by the one that the kernel rounds.
template <class Low, class Out>
void expect_same_bits(const GemmShape& s, DType dtype) {
  const auto a = random_values<Low>(s.m * s.k, 1), bias = random_values<Low>(s.n, 2);
  const auto wide = random_values<float>(s.k * s.n, 3);
  const std::vector<Low> rounded(wide.begin(), wide.end());
  GemmShape of_wide = s;
  of_wide.wide_b = true;
  const auto of = [&](const GemmShape& shape, const void* b) {
    const void* const with_bias = shape.epilogue.bias ? bias.data() : nullptr;
    return run_kernel<Out>(*prepare_gemm(shape, dtype, kTwoThreads), {a.data(), b, with_bias}, s.m * s.n);
  };
  const std::vector<Out> want = of(s, rounded.data()), got = of(of_wide, wide.data());
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(Out)), 0);
}

TEST(ColumnBlocks, AFactorThatTheyRoundGivesTheSameBits) {
  for (const GemmShape& s : shapes()) {
    SCOPED_TRACE(message("k ", s.k, ", transposed ", s.transpose_b, ", wide ", s.wide_c));
    if (s.wide_c) {
      expect_same_bits<Bf16, float>(s, DType::bf16);
      expect_same_bits<F16, float>(s, DType::f16);
    } else {
      expect_same_bits<Bf16, Bf16>(s, DType::bf16);
      expect_same_bits<F16, F16>(s, DType::f16);
    }
  }
}

TEST(ColumnBlocks, GiveTheProduct) {
  for (const bool transpose_b : {false, true}) {
    const GemmShape s{.m = 3, .n = 9215, .k = 513, .transpose_b = transpose_b, .epilogue = {.bias = true}};
    ASSERT_TRUE(is_in_column_blocks(s, DType::bf16));
    const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2),
               bias = random_values<Bf16>(s.n, 3);
    const auto kernel = prepare_gemm_in_column_blocks(s, DType::bf16, kTwoThreads, Provider::Best);
    EXPECT_NE(kernel->implementation().find("blocks of columns"), std::string::npos) << kernel->implementation();
    const auto c = run_kernel<Bf16>(*kernel, {a, b, bias}, s.m * s.n);
    for (std::int64_t i = 0; i < s.m * s.n; ++i) {
      const std::int64_t row = i / s.n, column = i % s.n;
      double sum = compute(bias[column]);
      for (std::int64_t k = 0; k < s.k; ++k)
        sum += double{compute(a[row * s.k + k])} * compute(b[transpose_b ? column * s.k + k : k * s.n + column]);
      ASSERT_NEAR(compute(c[i]), sum, std::abs(sum) / 256 + 1e-4) << row << ", " << column;
    }
  }
}

TEST(ColumnBlocks, AreOfLowFloatsByALargeFactorAlone) {
  const GemmShape large{.m = 16, .n = 4096, .k = 9216, .transpose_b = true};
  EXPECT_TRUE(is_in_column_blocks(large, DType::bf16));
  EXPECT_TRUE(is_in_column_blocks(large, DType::f16));
  EXPECT_FALSE(is_in_column_blocks(large, DType::f32));
  EXPECT_FALSE(is_in_column_blocks({.m = 16, .n = 64, .k = 9216}, DType::bf16)) << "one block is no less than all";
  EXPECT_FALSE(is_in_column_blocks({.m = 32768, .n = 4096, .k = 9216}, DType::bf16)) << "a block of c is large, too";
  EXPECT_FALSE(is_in_column_blocks({.m = 16, .n = 9216, .k = 512, .transpose_a = true}, DType::bf16))
      << "the gradient of a weight";
  EXPECT_FALSE(is_in_column_blocks({.batch = 2, .m = 16, .n = 4096, .k = 9216}, DType::bf16));
  EXPECT_FALSE(is_in_column_blocks({.m = 16, .n = 4096, .k = 9216, .accumulate = true}, DType::bf16));
}

/// A copy of the factor in bf16 would take 75 MB.
TEST(ColumnBlocks, TakeLittleMemory) {
  const GemmShape s{.m = 16, .n = 4096, .k = 9216, .transpose_b = true, .wide_b = true};
  EXPECT_LT(prepare_gemm(s, DType::bf16, kTwoThreads)->workspace_bytes(), 8 << 20);
}

void expect_refused(const DeviceInfo& device, const char* complaint) {
  try {
    prepare_gemm({.m = 2, .n = 2, .k = 2, .wide_b = true}, DType::bf16, device);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), complaint);
  }
}

TEST(ColumnBlocks, NothingElseRoundsAFactor) {
  expect_refused({}, "no product of bf16 by a factor in f32 but in blocks of its columns");
  if (has_cuda()) expect_refused({.kind = DeviceKind::Cuda}, "no product of bf16 and f32 on a GPU");
}

}  // namespace
}  // namespace lethe::testing
