#include "kernels/gemm/weight_blocks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "framework/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

const DeviceInfo kOfWeights{.threads = 2};

/// Several blocks of b and a smaller one, and one that is all of b.
std::vector<GemmShape> weight_shapes() {
  std::vector<GemmShape> all;
  for (const std::int64_t rows : {4609, 130})
    for (const std::int64_t m : {1, 5}) {
      all.push_back({.m = m, .n = rows, .k = 1000, .transpose_b = true, .epilogue = {.bias = true}});
      all.push_back({.m = m, .n = 1000, .k = rows});
    }
  return all;
}

template <class Low>
void expect_bits_of_a_copy(const GemmShape& s, DType of_weight) {
  const auto a = random_values<float>(s.m * s.k, 1), bias = random_values<float>(s.n, 2);
  const auto low = random_values<Low>(s.k * s.n, 3);
  const std::vector<float> copy(low.begin(), low.end());
  const auto of = [&](DType dtype, const void* b) {
    const void* const with_bias = s.epilogue.bias ? bias.data() : nullptr;
    return run_kernel<float>(*prepare_weight_product(s, DType::f32, dtype, true, kOfWeights), {a.data(), b, with_bias},
                             s.m * s.n);
  };
  const std::vector<float> want = of(DType::f32, copy.data()), got = of(of_weight, low.data());
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0);
}

TEST(WeightBlocks, AWeightThatTheyWidenGivesTheSameBits) {
  for (const GemmShape& s : weight_shapes()) {
    SCOPED_TRACE(message("m ", s.m, ", n ", s.n, ", k ", s.k));
    expect_bits_of_a_copy<Bf16>(s, DType::bf16);
    expect_bits_of_a_copy<F16>(s, DType::f16);
  }
}

TEST(WeightBlocks, GiveTheProduct) {
  for (const GemmShape& s : weight_shapes()) {
    SCOPED_TRACE(message("m ", s.m, ", n ", s.n, ", k ", s.k));
    EXPECT_EQ(prepare_weight_product(s, DType::f32, DType::f32, false, kOfWeights)->implementation(),
              prepare_gemm(s, DType::f32, kOfWeights)->implementation());
    const auto a = random_values<float>(s.m * s.k, 1), b = random_values<float>(s.k * s.n, 2);
    const auto bias = random_values<float>(s.epilogue.bias ? s.n : 0, 3);
    const auto kernel = prepare_weight_product(s, DType::f32, DType::f32, true, kOfWeights);
    EXPECT_EQ(kernel->implementation().find("blocks of the weight") != std::string::npos, s.k * s.n > 1 << 20);
    const auto c = run_kernel<float>(*kernel, {a, b, bias}, s.m * s.n);
    for (std::int64_t i = 0; i < s.m * s.n; ++i) {
      const std::int64_t row = i / s.n, column = i % s.n;
      double sum = bias.empty() ? 0 : bias[column];
      for (std::int64_t k = 0; k < s.k; ++k)
        sum += double{a[row * s.k + k]} * b[s.transpose_b ? column * s.k + k : k * s.n + column];
      ASSERT_NEAR(c[i], sum, 1e-3) << row << ", " << column;
    }
  }
}

/// A copy of the weight in f32 would take 151 MB.
TEST(WeightBlocks, TakeLittleMemory) {
  for (const bool transpose_b : {false, true}) {
    const GemmShape s{.m = 16, .n = 4096, .k = 9216, .transpose_b = transpose_b};
    EXPECT_LT(prepare_weight_product(s, DType::f32, DType::bf16, true, kOfWeights)->workspace_bytes(), 8 << 20);
  }
}

TEST(WeightBlocks, ConvertWeightsOfMatrices) {
  const GemmShape s{.m = 2, .n = 3, .k = 4};
  EXPECT_TRUE(converts_weight(s, DType::f32));
  EXPECT_FALSE(converts_weight(s, DType::f64));
  EXPECT_FALSE(converts_weight(s, DType::bf16)) << "in one block of columns";
  EXPECT_FALSE(converts_weight({.batch = 2, .m = 2, .n = 3, .k = 4}, DType::f32));
  EXPECT_FALSE(converts_weight({.m = 2, .n = 3, .k = 4, .transpose_a = true}, DType::f32));
  const auto takes = [&](DType weight, Kind kind, DType dtype) {
    return takes_weight(s, dtype, {.name = "w", .shape = {4, 3}, .dtype = weight, .kind = kind});
  };
  for (const DType low : {DType::bf16, DType::f16}) {
    EXPECT_TRUE(takes(low, Kind::Param, DType::f32));
    EXPECT_FALSE(takes(low, Kind::Temp, DType::f32));
    EXPECT_FALSE(takes(low, Kind::Param, DType::f64));
    EXPECT_TRUE(takes(low, Kind::Temp, low));
  }
  EXPECT_FALSE(takes(DType::f16, Kind::Param, DType::bf16));
}

TEST(WeightBlocks, NothingElseWidensAWeight) {
  const auto error = [](const GemmShape& s, const DeviceInfo& device) {
    return error_of([&] { prepare_weight_product(s, DType::f32, DType::bf16, true, device); });
  };
  EXPECT_EQ(error({.batch = 2, .m = 2, .n = 3, .k = 4}, kOfWeights),
            "no product of f32 and bf16 but of a matrix by a weight");
  EXPECT_EQ(error({.m = 2, .n = 3, .k = 4}, {.kind = DeviceKind::Cuda}), "no product of f32 and bf16 on a GPU");
}

}  // namespace
}  // namespace lethe::testing
