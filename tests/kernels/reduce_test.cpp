#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "framework/random.h"
#include "kernels/cpu/workers.h"
#include "kernels/reduce/rows.h"
#include "kernels/reduce/sums.h"

namespace lethe::testing {
namespace {

template <class T>
std::vector<T> sums_of(const std::vector<T>& x, const SumExtent& extent, std::int64_t pieces = 1) {
  const SumPlan plan{extent, pieces};
  std::vector<double> workspace(static_cast<std::size_t>(sum_workspace(plan, 1)) / sizeof(double));
  std::vector<T> y(static_cast<std::size_t>(extent.outer * extent.inner), T(-1));
  scaled_sum(Cpu{}, {.workspace = workspace.data()}, plan, 1.0, x.data(), y.data());
  return y;
}

template <class T>
std::vector<T> uniform(std::int64_t count) {
  Random random(3);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& value : x) value = static_cast<T>(random.uniform());
  return x;
}

TEST(Reduce, SumsTheMiddleOfEachOuterIndex) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(sums_of(x, {2, 3, 2}), (std::vector<double>{9, 12, 27, 30}));
  EXPECT_EQ(sums_of(x, {1, 12, 1}), (std::vector<double>{78}));
  EXPECT_EQ(sums_of(x, {3, 4, 1}), (std::vector<double>{10, 26, 42}));
  EXPECT_EQ(sums_of(x, {1, 1, 12}), x);
}

TEST(Reduce, PiecesAddUpToTheWhole) {
  // Widths below, at and above what the inner loops work on at once, rows that no number of pieces divides.
  for (const SumExtent& extent :
       {SumExtent{1, 1001, 3}, SumExtent{2, 67, 129}, SumExtent{3, 7, 1500}, SumExtent{1, 4099, 1}}) {
    const std::vector<double> x = uniform<double>(extent.size());
    const std::vector<double> whole = sums_of(x, extent), cut = sums_of(x, extent, 5);
    for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], cut[i], 1e-12 * whole[i]);
    double column = 0;
    for (std::int64_t row = 0; row < extent.middle; ++row) column += x[static_cast<std::size_t>(row * extent.inner)];
    EXPECT_NEAR(whole[0], column, 1e-12 * column);
  }
}

TEST(Reduce, ErrorOfAFloatSumDoesNotGrowWithItsLength) {
  for (const std::int64_t rows : {1000, 100000, 4000000}) {
    const std::vector<float> x(static_cast<std::size_t>(rows), 0.1f);
    const double exact = static_cast<double>(rows) * static_cast<double>(0.1f);
    EXPECT_NEAR(sums_of(x, {1, rows, 1})[0], exact, 1e-6 * exact) << rows;
  }
}

TEST(Reduce, GivesTheSameBitsForTheSamePiecesOnAnyNumberOfThreads) {
  const SumExtent extent{1, 30000, 5};
  const std::vector<float> x = uniform<float>(extent.size());
  const auto sums_by = [&](int threads) {
    const Workers workers(threads);
    return sums_of(x, extent, 4);
  };
  EXPECT_EQ(sums_by(3), sums_by(1));
}

TEST(Reduce, SmallSumsStayInOnePieceWithoutWorkspace) {
  const DeviceInfo device{.threads = 8};
  EXPECT_EQ(plan_sum(Cpu{}, device, {1, 100, 10}, DType::f32).pieces, 1);
  EXPECT_EQ(sum_workspace(plan_sum(Cpu{}, device, {1, 100, 10}, DType::f32), 2), 0);
  EXPECT_EQ(plan_sum(Cpu{}, device, {8, 100000, 10}, DType::f32).pieces, 1);  // as many outer indices as threads
  const SumPlan large = plan_sum(Cpu{}, device, {1, 100000, 10}, DType::f32);
  EXPECT_EQ(large.pieces, 8);
  EXPECT_EQ(sum_workspace(large, 2), 8 * 2 * 10 * 8);
}

TEST(OneThread, SumsAndFindsTheLargestAtAnyLength) {
  for (const std::int64_t n : {1, 15, 16, 17, 1024, 1031, 5000}) {
    const auto value = [n](std::int64_t i) { return static_cast<float>(i * 7919 % n); };
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(value(i));
    EXPECT_EQ(OneThread{}.sum(n, value), sum) << n;
    EXPECT_EQ(OneThread{}.max(n, [&](std::int64_t i) { return i == n - 1 ? 1e6f : value(i); }), 1e6f) << n;
    EXPECT_EQ(OneThread{}.max(n, [](std::int64_t) { return -3.0f; }), -3.0f) << n;
  }
}

}  // namespace
}  // namespace lethe::testing
