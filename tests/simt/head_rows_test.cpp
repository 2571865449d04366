// The rows of linear_cross_entropy's logits on a GPU: rows that threads hold, rows that a block keeps in shared memory,
// and rows that it reads again.
#include "kernels/reduce/head_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "framework/random.h"
#include "kernels/dtypes.h"

namespace lethe::testing {
namespace {

template <class T>
struct HeadResults {
  std::vector<T> logits;
  std::vector<Compute<T>> loss, lse;
  std::vector<std::uint8_t> right;
};

template <class T, class Device>
HeadResults<T> head_results(Device device, std::int64_t classes, std::int64_t stride, const Compute<T>* lse = nullptr) {
  using C = Compute<T>;
  constexpr std::int64_t kRows = 3;
  HeadResults<T> of{.logits = std::vector<T>(kRows * stride, T(std::numeric_limits<C>::quiet_NaN())),
                    .loss = std::vector<C>(kRows),
                    .lse = std::vector<C>(kRows),
                    .right = std::vector<std::uint8_t>(kRows)};
  Random random(3, 1, 4);
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < classes; ++c) of.logits[r * stride + c] = T(static_cast<C>(4 * random.uniform() - 2));
  of.logits[classes - 1] = T(3);  // row 0 is right
  const std::vector<std::int32_t> label = {static_cast<std::int32_t>(classes - 1), -1, 5};
  const std::vector<C> dloss = {C(0.5), C(2), C(-1)};
  for_each_row(device, nullptr, kRows, classes,
               HeadRow<T>{.s = {kRows, 1, classes, 0.1, 0.01, stride},
                          .first = 0,
                          .logits = of.logits.data(),
                          .label = label.data(),
                          .dloss = dloss.data(),
                          .known = lse,
                          .loss = of.loss.data(),
                          .lse = of.lse.data(),
                          .right = of.right.data()});
  return of;
}

template <class T>
void expect_same_head(double error) {
  for (const std::int64_t classes : {33, 1100, 9000, 16500, 51000}) {
    SCOPED_TRACE(classes);
    const std::int64_t stride = (classes + 127) / 128 * 128;
    const HeadResults<T> want = head_results<T>(Cpu{}, classes, stride), got = head_results<T>(Cuda{}, classes, stride);
    EXPECT_EQ(got.right, want.right);
    EXPECT_EQ(want.right[0], 1);
    for (std::size_t r = 0; r < want.loss.size(); ++r) {
      EXPECT_NEAR(got.loss[r], want.loss[r], 1e-5 * (1 + std::fabs(want.loss[r])));
      EXPECT_NEAR(got.lse[r], want.lse[r], 1e-5 * std::fabs(want.lse[r]));
    }
    double difference = 0, norm = 0;
    for (std::int64_t i = 0; i < std::ssize(want.logits); ++i) {
      if (i % stride >= classes) continue;
      const double w = compute(want.logits[i]), g = compute(got.logits[i]);
      difference += (g - w) * (g - w), norm += w * w;
    }
    EXPECT_GT(norm, 0);
    EXPECT_LE(std::sqrt(difference / norm), error);
    const std::vector<T> gradient = head_results<T>(Cuda{}, classes, stride, got.lse.data()).logits;
    for (std::int64_t i = 0; i < std::ssize(gradient); ++i)
      if (i % stride < classes) {
        ASSERT_EQ(compute(gradient[i]), compute(got.logits[i])) << "of a known lse, " << i;
      }
  }
}

TEST(HeadRows, GiveWhatTheCpuGives) {
  expect_same_head<float>(1e-5);
  expect_same_head<double>(1e-12);
  expect_same_head<Bf16>(1e-2);
  expect_same_head<F16>(2e-3);
}

template <class T, class Device>
bool is_read_once(Device device, std::int64_t classes) {
  return reads_once(device, HeadRow<T>{.s = {1, 1, classes, 0, 0, (classes + 127) / 128 * 128}}, classes);
}

TEST(HeadRows, AreReadOnceWhereABlockCanKeepThem) {
  EXPECT_TRUE(is_read_once<float>(Cuda{}, 1100)) << "in registers";
  EXPECT_TRUE(is_read_once<Bf16>(Cuda{}, 50257)) << "in shared memory";
  EXPECT_FALSE(is_read_once<float>(Cuda{}, 50257));
  EXPECT_FALSE(is_read_once<Bf16>(Cuda{}, 51000));
  EXPECT_FALSE(is_read_once<Bf16>(Cpu{}, 1100));
}

}  // namespace
}  // namespace lethe::testing
