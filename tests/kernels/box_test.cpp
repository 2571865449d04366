#include <gtest/gtest.h>

#include <vector>

#include "framework/error.h"
#include "kernels/cpu/workers.h"
#include "kernels/for_each_pair.h"

namespace lethe::testing {
namespace {

TEST(Box, JoinsAxesThatBothArraysWalkAsOne) {
  const Box same = make_box({2, 3, 4}, {12, 4, 1}, {12, 4, 1});
  EXPECT_EQ(same.axes, 1);
  EXPECT_EQ(same.size[0], 24);
  const Box channels = make_box({2, 3, 4}, {12, 4, 1}, {0, 0, 1});
  EXPECT_EQ(channels.axes, 2);
  EXPECT_EQ(channels.size[0], 6);
}

TEST(Box, LeavesOutAxesOfOne) {
  EXPECT_EQ(make_box({1, 5, 1}, {5, 1, 1}, {5, 1, 1}).axes, 1);
  const Box scalar = make_box({}, {}, {});
  EXPECT_EQ(scalar.axes, 1);
  EXPECT_EQ(scalar.count(), 1);
}

TEST(Box, IsInPacksWhereAllOfItIs) {
  const auto packs = in_packs(make_box({3, 5, 8}, {40, 8, 1}, {96, 16, 1}), 4);
  ASSERT_TRUE(packs);
  EXPECT_EQ(packs->count(), 30);
  EXPECT_EQ((Shape{packs->size[2], packs->first[1], packs->second[1], packs->first[2]}), (Shape{2, 2, 4, 1}));
  EXPECT_FALSE(in_packs(make_box({3, 6}, {6, 1}, {12, 1}), 4)) << "rows";
  EXPECT_FALSE(in_packs(make_box({3, 8}, {9, 1}, {8, 1}), 4)) << "steps of the first";
  EXPECT_FALSE(in_packs(make_box({3, 8}, {8, 1}, {9, 1}), 4)) << "steps of the second";
  EXPECT_FALSE(in_packs(make_box({4, 8}, {1, 4}, {8, 1}), 4)) << "transposed";
  EXPECT_FALSE(in_packs(make_box({4, 8}, {8, 1}, {1, 4}), 4)) << "transposed";
}

struct Mark {
  std::vector<std::int64_t>* seen;
  void operator()(std::int64_t first, std::int64_t second) const { (*seen)[static_cast<std::size_t>(first)] = second; }
};

TEST(Box, RangesThatBeginWithinARowVisitEveryPairOnce) {
  const Workers workers(3);
  // Rows of 7 that no share of a thread divides, walked transposed in the second array.
  const Box box = make_box({9001, 7}, {7, 1}, {1, 9001});
  std::vector<std::int64_t> seen(9001 * 7, -1);
  for_each_pair(Cpu{}, nullptr, box, Mark{&seen});
  for (std::int64_t i = 0; i < 9001 * 7; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i / 7 + i % 7 * 9001);
}

TEST(Box, RefusesMoreAxesThanItHolds) {
  const Shape size(7, 2), first(7, 1), second(7, 0);
  EXPECT_THROW(make_box(size, first, second), Error);
}

}  // namespace
}  // namespace lethe::testing
