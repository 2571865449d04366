#include "kernels/gemm/weight_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "framework/error.h"
#include "framework/language/quantize.h"
#include "kernels/quantized/dequantize.h"
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

/// The weight as its own blocks, and as a copy of what these mean.
template <class T>
void expect_bits_of_dequantised(const GemmShape& s, DType dtype, DType of_weight) {
  const auto a = random_values<T>(s.m * s.k, 1), bias = random_values<T>(s.n, 2);
  const auto values = random_values<float>(s.k * s.n, 3);
  const Shape shape = s.transpose_b ? Shape{s.n, s.k} : Shape{s.k, s.n};
  std::vector<std::byte> blocks(static_cast<std::size_t>(bytes_of(of_weight, shape)));
  Quantizer quantizer(of_weight, shape, blocks.data());
  quantizer.add(values.data(), std::ssize(values));
  quantizer.finish();
  std::vector<T> copy(values.size());
  dequantize(Cpu{}, nullptr, {of_weight, shape}, blocks.data(), 0, std::ssize(copy), copy.data());
  const auto of = [&](DType of_b, const void* b) {
    const void* const with_bias = s.epilogue.bias ? bias.data() : nullptr;
    return run_kernel<T>(*prepare_weight_product(s, dtype, of_b, true, kOfWeights), {a.data(), b, with_bias},
                         s.m * s.n);
  };
  const std::vector<T> want = of(dtype, copy.data()), got = of(of_weight, blocks.data());
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(T)), 0);
  const std::vector<T> plain = run_kernel<T>(*prepare_gemm(s, dtype, kOfWeights), {a, copy, bias}, s.m * s.n);
  const double scale = std::sqrt(static_cast<double>(s.k));
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(compute(got[i]), compute(plain[i]), (dtype == DType::f32 ? 1e-5 : 1e-2) * scale) << i;
}

TEST(WeightBlocks, AWeightInFewBitsGivesTheBitsOfACopy) {
  for (GemmShape s : weight_shapes()) {
    if (s.m == 1) continue;
    (s.transpose_b ? s.k : s.n) = 1024;
    const bool is_large = s.k * s.n > 1 << 20;  // takes seconds under sanitizers
    for (const DType of_weight : {DType::nf4, DType::int8, DType::q8_0, DType::q4_0, DType::q4_1, DType::nf4_dq}) {
      if (is_large && of_weight != DType::nf4) continue;
      SCOPED_TRACE(message(name_of(of_weight), ", m ", s.m, ", n ", s.n, ", k ", s.k));
      expect_bits_of_dequantised<float>(s, DType::f32, of_weight);
      if (of_weight == DType::nf4) expect_bits_of_dequantised<Bf16>(s, DType::bf16, of_weight);
    }
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
  EXPECT_TRUE(converts_weight(s, DType::f32, DType::bf16));
  EXPECT_FALSE(converts_weight(s, DType::f64, DType::nf4));
  EXPECT_FALSE(converts_weight(s, DType::bf16, DType::f32)) << "in one block of columns";
  EXPECT_FALSE(converts_weight({.batch = 2, .m = 2, .n = 3, .k = 4}, DType::f32, DType::nf4));
  EXPECT_FALSE(converts_weight({.m = 2, .n = 3, .k = 4, .transpose_a = true}, DType::f32, DType::bf16));
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
  EXPECT_TRUE(takes(DType::nf4, Kind::Param, DType::f32));
  EXPECT_TRUE(takes(DType::nf4, Kind::Param, DType::bf16)) << "as soon as it is a matrix";
  EXPECT_FALSE(takes(DType::nf4, Kind::Param, DType::f64));
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
