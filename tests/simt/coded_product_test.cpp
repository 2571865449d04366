// Weights in few bits on a GPU: products that decode them on the way, and their numbers as floats.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "framework/error.h"
#include "framework/language/quantize.h"
#include "kernels/dtypes.h"
#include "kernels/quantized/cuda_launches.h"
#include "kernels/quantized/dequantize.h"
#include "tests/simt/simt_host.h"
#include "tests/support/guarded.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

constexpr DType kInBlocks[] = {DType::int8, DType::q8_0, DType::q4_0, DType::q4_1, DType::nf4, DType::nf4_dq};

/// A weight in blocks.
struct CodedCase {
  BlockedWeight weight;
  Guarded blocks;

  CodedCase(DType dtype, const Shape& shape) : weight{dtype, shape}, blocks(bytes_of(dtype, shape)) {
    const auto values = random_values<float>(shape[0] * shape[1], 3);
    Quantizer quantizer(dtype, shape, static_cast<std::byte*>(blocks.data()));
    quantizer.add(values.data(), std::ssize(values));
    quantizer.finish();
  }
  template <class T>
  std::vector<T> numbers() const {
    std::vector<T> of(static_cast<std::size_t>(weight.shape[0] * weight.shape[1]));
    dequantize(Cpu{}, nullptr, weight, blocks.data(), 0, std::ssize(of), of.data());
    return of;
  }
};

/// Rows that lie apart, in memory between guards; NaN between them.
template <class T>
struct ApartRows {
  std::int64_t rows, width, apart;
  Guarded memory;
  ApartRows(std::int64_t rows, std::int64_t width)
      : rows(rows),
        width(width),
        apart((width + 7) / 8 * 8 + 8),
        memory(((rows - 1) * apart + width) * static_cast<std::int64_t>(sizeof(T))) {}
  T& at(std::int64_t row, std::int64_t i) const { return static_cast<T*>(memory.data())[row * apart + i]; }
};

/// T: of `dtype`.
template <class T>
void expect_coded_product(DType dtype, const CodedProductShape& dense, DType of_weight, bool has_bias) {
  const CodedCase coded(of_weight, dense.transpose_b ? Shape{dense.n, dense.k} : Shape{dense.k, dense.n});
  const std::vector<T> copy = coded.numbers<T>(), bias = random_values<T>(dense.n, 2);
  const std::vector<T> factors = random_values<T>(dense.m * dense.k, 1);
  const ApartRows<T> a(dense.m, dense.k), c(dense.m, dense.n), again(dense.m, dense.n);
  for (std::int64_t i = 0; i < dense.m * dense.k; ++i) a.at(i / dense.k, i % dense.k) = factors[i];
  CodedProductShape s = dense;
  s.row_a = a.apart, s.row_c = c.apart;
  ASSERT_TRUE(s.is_whole());
  const T* const added = has_bias ? bias.data() : nullptr;
  launch_coded_product(nullptr, s, dtype, coded.weight, coded.blocks.data(), a.memory.data(), added, c.memory.data());
  launch_coded_product(nullptr, s, dtype, {dtype}, copy.data(), a.memory.data(), added, again.memory.data());
  EXPECT_TRUE(c.memory.holds_same(again.memory)) << "the bits of a copy";
  EXPECT_TRUE(a.memory.intact() && c.memory.intact() && coded.blocks.intact());
  const double error = dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = has_bias ? compute(bias[j]) : 0, size = std::fabs(sum);
      for (std::int64_t k = 0; k < s.k; ++k) {
        const double term = double{compute(a.at(i, k))} * compute(copy[s.transpose_b ? j * s.k + k : k * s.n + j]);
        sum += term, size += std::fabs(term);
      }
      ASSERT_NEAR(compute(c.at(i, j)), sum, error * std::fabs(sum) + 1e-6 * size) << i << ", " << j;
    }
    if (i + 1 < s.m) {
      for (std::int64_t j = s.n; j < c.apart; ++j) ASSERT_TRUE(std::isnan(compute(c.at(i, j)))) << "between rows";
    }
  }
}

/// More columns than a block has and several steps over the terms, more rows than a block has in some cases; rows of
/// the weight that are no whole tile in others.
TEST(CodedProduct, GivesTheProductAndTheBitsOfACopy) {
  for (const auto order : {simt::Order::Forward, simt::Order::Reverse}) {
    simt::order = order;
    for (const bool transpose_b : {true, false})
      for (const DType of_weight : kInBlocks) {
        SCOPED_TRACE(message(name_of(of_weight), transpose_b ? ", by columns" : ", by terms"));
        expect_coded_product<Bf16>(DType::bf16, {21, 192, 192, 0, 0, transpose_b}, of_weight, true);
        const std::int64_t n = transpose_b ? 157 : 64, k = transpose_b ? 64 : 157;
        expect_coded_product<Bf16>(DType::bf16, {5, n, k, 0, 0, transpose_b}, of_weight, true);
        const std::int64_t few = transpose_b ? 3 : 64, short_sum = transpose_b ? 64 : 5;
        expect_coded_product<F16>(DType::f16, {1, few, short_sum, 0, 0, transpose_b}, of_weight, true);
        if (of_weight == DType::nf4)
          expect_coded_product<F16>(DType::f16, {67, n, k, 0, 0, transpose_b}, of_weight, false);
      }
  }
  simt::order = simt::Order::Forward;
}

TEST(CodedProduct, TakesWholePacksAndGroups) {
  const CodedProductShape s{1, 96, 64, 64, 96, true};
  EXPECT_TRUE(s.is_whole());
  const auto changed = [&](auto CodedProductShape::*of, auto to) {
    CodedProductShape other = s;
    other.*of = to;
    return other.is_whole();
  };
  EXPECT_TRUE(changed(&CodedProductShape::m, 1000));
  EXPECT_FALSE(changed(&CodedProductShape::k, 96)) << "no whole groups of nf4";
  EXPECT_TRUE(changed(&CodedProductShape::n, 81));
  EXPECT_FALSE(changed(&CodedProductShape::transpose_b, false)) << "rows of 96 numbers";
  EXPECT_FALSE(changed(&CodedProductShape::row_a, 68));
  EXPECT_FALSE(changed(&CodedProductShape::row_c, 98));
}

/// From the start, from an offset at which packs begin, and from one at which they do not.
template <class T>
void expect_same_numbers(DType dtype, DType of_weight) {
  const CodedCase coded(of_weight, {6, 192});
  const std::vector<T> want = coded.numbers<T>();
  for (const std::int64_t first : {0, 200, 67}) {
    const std::int64_t count = std::ssize(want) - first - 3;
    const Guarded got(count * static_cast<std::int64_t>(sizeof(T)));
    launch_converted(nullptr, coded.weight, coded.blocks.data(), first, count, dtype, got.data());
    EXPECT_TRUE(got.intact());
    EXPECT_EQ(std::memcmp(got.data(), want.data() + first, static_cast<std::size_t>(got.bytes())), 0)
        << name_of(of_weight) << " from " << first;
  }
}

TEST(CodedNumbers, AreThoseOfACpu) {
  for (const DType of_weight : kInBlocks) {
    expect_same_numbers<Bf16>(DType::bf16, of_weight);
    expect_same_numbers<float>(DType::f32, of_weight);
  }
}

}  // namespace
}  // namespace lethe::testing
