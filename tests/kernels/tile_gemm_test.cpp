// Products of bf16 by our own tiles, on a processor with AMX or AVX-512 BF16 and by what stands for them elsewhere,
// against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "framework/error.h"
#include "kernels/cpu/bf16_units.h"
#include "kernels/gemm/providers.h"
#include "kernels/low_floats.h"
#include "kernels/tiles/panels.h"
#include "tests/support/guarded.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/random_values.h"

namespace lethe::testing {
namespace {

/// Whole numbers whose sums f32 has exactly, so that the order of summing does not matter.
template <class T>
std::vector<T> whole_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> uniform(-8, 8);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(static_cast<float>(uniform(random)));
  return values;
}

/// Of a matrix or a stack of dense ones: elements in memory.
std::int64_t size_of(std::int64_t stack, std::int64_t rows, std::int64_t columns, std::int64_t row) {
  return stack * rows * columns + rows * (row - columns);
}
std::int64_t size_of_a(const GemmShape& s) {
  return size_of(s.batch, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k, s.row_a());
}
std::int64_t size_of_b(const GemmShape& s) {
  return size_of(s.batch, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n, s.row_b());
}
std::int64_t size_of_c(const GemmShape& s) { return size_of(s.batch, s.m, s.n, s.row_c()); }

template <class B, class C>
void expect_exact(const GemmShape& s, int threads) {
  SCOPED_TRACE(message(s.batch, " of ", s.m, 'x', s.n, 'x', s.k, s.transpose_a ? " a^T" : "",
                       s.transpose_b ? " b^T" : "", s.wide_b ? ", b in f32" : "", s.wide_c ? ", c in f32" : "",
                       s.accumulate ? ", added" : "", ", ", threads, " threads"));
  const auto a = whole_numbers<Bf16>(size_of_a(s), 1), bias = whole_numbers<Bf16>(s.n, 3);
  const auto b = whole_numbers<B>(size_of_b(s), 2);
  const C before(s.accumulate ? 3.0F : 1e30F);
  const void* const with_bias = s.epilogue.bias ? bias.data() : nullptr;
  const auto kernel = prepare_gemm_on_tiles(s, threads);
  const auto got = run_kernel<C>(*kernel, {a.data(), b.data(), with_bias}, size_of_c(s), before);
  std::vector<C> want(got.size(), before);
  for (std::int64_t i = 0; i < s.batch; ++i)
    for (std::int64_t row = 0; row < s.m; ++row)
      for (std::int64_t column = 0; column < s.n; ++column) {
        C& to = want[static_cast<std::size_t>(i * s.m * s.n + row * s.row_c() + column)];
        float sum = s.accumulate ? compute(to) : s.epilogue.bias ? compute(bias[static_cast<std::size_t>(column)]) : 0;
        for (std::int64_t k = 0; k < s.k; ++k) {
          const std::int64_t of_a = i * s.m * s.k + (s.transpose_a ? k * s.row_a() + row : row * s.row_a() + k);
          const std::int64_t of_b = i * s.k * s.n + (s.transpose_b ? column * s.row_b() + k : k * s.row_b() + column);
          sum += compute(a[static_cast<std::size_t>(of_a)]) * static_cast<float>(b[static_cast<std::size_t>(of_b)]);
        }
        to = C(sum);
      }
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(compute(got[i]), compute(want[i])) << "element " << i;
}

void expect_exact(const GemmShape& s, int threads) {
  if (s.wide_b && s.wide_c) return expect_exact<float, float>(s, threads);
  if (s.wide_b) return expect_exact<float, Bf16>(s, threads);
  if (s.wide_c) return expect_exact<Bf16, float>(s, threads);
  expect_exact<Bf16, Bf16>(s, threads);
}

/// Parts of tiles, of pieces and of panels; more workers than tasks; rows that are not packed and such as are.
TEST(TileGemm, FollowsTheDefinition) {
  struct Size {
    std::int64_t batch, m, n, k;
  };
  for (const Size& size : {Size{1, 1, 1, 1}, {1, 64, 64, 64}, {1, 33, 47, 65}, {1, 70, 150, 288}, {3, 17, 9, 40}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const bool wide_b : {false, true})
          for (const bool wide_c : {false, true})
            for (const char* const ending : {"", "bias", "accumulate"}) {
              GemmShape s{.batch = size.batch,
                          .m = size.m,
                          .n = size.n,
                          .k = size.k,
                          .transpose_a = transpose_a,
                          .transpose_b = transpose_b,
                          .wide_b = wide_b,
                          .wide_c = wide_c};
              s.epilogue.bias = ending == std::string("bias");
              s.accumulate = ending == std::string("accumulate");
              expect_exact(s, 1 + static_cast<int>(size.n % 3));
            }
}

TEST(TileGemm, SumsGoOnFromPanelToPanel) {
  for (const bool transpose_a : {false, true})
    expect_exact({.m = 45, .n = 40, .k = 2100, .transpose_a = transpose_a, .transpose_b = !transpose_a}, 2);
  expect_exact({.m = 3, .n = 1300, .k = 1030, .wide_c = true, .accumulate = true}, 3);
  expect_exact({.m = 20, .n = 30, .k = 1100, .epilogue = {.bias = true}}, 2);
}

TEST(TileGemm, RowsMayLieApart) {
  const GemmShape s{.m = 40, .n = 36, .k = 96, .stride_a = 103, .stride_b = 41, .stride_c = 50};
  expect_exact(s, 2);
  GemmShape turned = s;
  turned.transpose_a = turned.transpose_b = turned.wide_c = true;
  turned.stride_b = 101;
  expect_exact(turned, 2);
}

template <class C>
std::vector<C> product_of_random(const GemmShape& s, int threads) {
  const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2);
  return run_kernel<Bf16, C>(*prepare_gemm_on_tiles(s, threads), {a, b}, s.m * s.n);
}

/// So that neither rows of a chunk, nor blocks of a weight, nor threads decide.
TEST(TileGemm, BitsDependOnTheFactorsAlone) {
  const GemmShape s{.m = 100, .n = 70, .k = 1500, .wide_c = true};
  const std::vector<float> whole = product_of_random<float>(s, 1);
  for (const int threads : {2, 5}) EXPECT_EQ(product_of_random<float>(s, threads), whole) << threads << " threads";
  GemmShape first = s;
  first.m = 37;
  const std::vector<float> part = product_of_random<float>(first, 2);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin()));
  const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2);
  GemmShape columns = s;
  columns.n = 45, columns.stride_b = s.n;
  const std::vector<const void*> in = {a.data(), b.data() + 20, nullptr};
  const auto some = run_kernel<float>(*prepare_gemm_on_tiles(columns, 2), in, s.m * columns.n);
  for (std::int64_t i = 0; i < s.m * columns.n; ++i)
    ASSERT_EQ(some[static_cast<std::size_t>(i)],
              whole[static_cast<std::size_t>(i / columns.n * s.n + 20 + i % columns.n)]);
}

/// Large results in f32 are written past the cache where they begin at a line of it: the same numbers.
TEST(TileGemm, LargeGradientsAreTheSameWhereverTheyBegin) {
  for (const std::int64_t n : {1056, 1040}) {
    const GemmShape s{.m = 1536, .n = n, .k = 40, .transpose_a = true, .wide_c = true};
    const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2);
    const auto kernel = prepare_gemm_on_tiles(s, 2);
    const Guarded workspace(kernel->workspace_bytes());
    const std::int64_t bytes = s.m * s.n * static_cast<std::int64_t>(sizeof(float));
    const Guarded memory(bytes), beside(bytes + static_cast<std::int64_t>(sizeof(float)));
    auto *const at_line = static_cast<float*>(memory.data()), *const elsewhere = static_cast<float*>(beside.data()) + 1;
    for (float* const c : {at_line, elsewhere}) {
      void* in[] = {const_cast<Bf16*>(a.data()), const_cast<Bf16*>(b.data()), nullptr};
      void* out = c;
      kernel->run({.inputs = in, .outputs = &out, .workspace = workspace.data()});
    }
    EXPECT_TRUE(workspace.intact() && memory.intact() && beside.intact());
    EXPECT_EQ(std::memcmp(at_line, elsewhere, static_cast<std::size_t>(bytes)), 0) << n;
    EXPECT_TRUE(std::none_of(at_line, at_line + s.m * s.n, [](float x) { return std::isnan(x); })) << n;
  }
}

TEST(TileGemm, IsTakenWhereItIsFastest) {
  struct Case {
    GemmShape shape;
    bool by_dots;  // or by AMX alone
  };
  const GemmShape few{.m = 16, .n = 1024, .k = 512, .transpose_b = true};
  const GemmShape added{.m = 1024, .n = 512, .k = 160, .transpose_a = true, .wide_c = true, .accumulate = true};
  const auto with = [](GemmShape shape, auto change) { return change(shape), shape; };
  for (const auto& [shape, by_dots] : {Case{{.m = 8, .n = 8, .k = 63}, false},
                                       {few, true},
                                       {with(few, [](GemmShape& s) { s.m = 256; }), true},
                                       {with(few, [](GemmShape& s) { s.m = 15; }), false},
                                       {with(few, [](GemmShape& s) { s.m = 257; }), false},
                                       {with(few, [](GemmShape& s) { s.n = 1023; }), false},
                                       {with(few, [](GemmShape& s) { s.batch = 2; }), false},
                                       {added, true},
                                       {with(added, [](GemmShape& s) { s.accumulate = false; }), false},
                                       {with(added, [](GemmShape& s) { s.n = 511; }), false}}) {
    const std::string by = prepare_gemm(shape, DType::bf16, {.threads = 1})->implementation();
    EXPECT_EQ(by == "own AMX", has_amx()) << by;
    EXPECT_EQ(by == "own AVX-512 bf16", !has_amx() && has_fast_dots() && by_dots) << shape.m << ", " << by;
  }
}

/// In f32: 1e-6 of the sum of what is added, whatever its signs.
TEST(TileGemm, RoundsOnce) {
  const GemmShape s{.m = 50, .n = 40, .k = 700, .wide_c = true};
  const auto a = random_values<Bf16>(s.m * s.k, 1), b = random_values<Bf16>(s.k * s.n, 2);
  const auto got = product_of_random<float>(s, 2);
  GemmShape low = s;
  low.wide_c = false;
  const auto rounded = product_of_random<Bf16>(low, 2);
  for (std::int64_t i = 0; i < s.m * s.n; ++i) {
    double sum = 0, size = 0;
    for (std::int64_t k = 0; k < s.k; ++k) {
      const double term = double{compute(a[static_cast<std::size_t>(i / s.n * s.k + k)])} *
                          compute(b[static_cast<std::size_t>(k * s.n + i % s.n)]);
      sum += term, size += std::abs(term);
    }
    const auto at = static_cast<std::size_t>(i);
    ASSERT_NEAR(got[at], sum, 1e-6 * size) << "element " << i;
    ASSERT_EQ(rounded[at].bits, Bf16(got[at]).bits) << "element " << i;
  }
}

/// As a cast rounds them, and what is not finite stays so.
TEST(TileGemm, PackedF32IsRoundedAsElsewhere) {
  std::vector<float> numbers = random_values<float>(32 * 16, 5);
  numbers[3] = std::numeric_limits<float>::quiet_NaN(), numbers[40] = -std::numeric_limits<float>::infinity();
  numbers[41] = std::bit_cast<float>(0x7FFFFFFFU), numbers[42] = std::bit_cast<float>(0x7F7FFFFFU);
  numbers[70] = std::bit_cast<float>(0x3F808000U), numbers[71] = std::bit_cast<float>(0x3F818000U);  // ties
  numbers[72] = 1e-40F;
  const std::vector<Bf16> low(numbers.begin(), numbers.end());
  const tiles::Panel panel{16, 32};
  for (const tiles::Side side : {tiles::Side::Left, tiles::Side::Right})
    for (const bool across : {false, true}) {
      const std::int64_t stride = across ? 16 : 32;
      Bf16 got[tiles::kSize], want[tiles::kSize];
      const tiles::Vectors<float> wide{numbers.data(), stride, across};
      const tiles::Vectors<Bf16> narrow{low.data(), stride, across};
      tiles::pack(panel, wide, side, got);
      tiles::pack(panel, narrow, side, want);
      EXPECT_EQ(std::memcmp(got, want, sizeof got), 0) << "across " << across;
    }
}

}  // namespace
}  // namespace lethe::testing
