// Packing: every packing is valid, small ones are the smallest there are, and the result never depends on luck.
#include "memopt/pack/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "framework/error.h"
#include "memopt/pack/by_birth.h"
#include "memopt/pack/fit.h"
#include "memopt/pack/orders.h"
#include "memopt/pack/time.h"
#include "train/report/pack_csv.h"

namespace lethe::testing {
namespace {

using Items = std::vector<PackItem>;

bool meet(const PackItem& a, const PackItem& b) { return a.lower < b.upper && b.lower < a.upper; }

/// Looks at every pair and every instant.
void expect_valid(const Items& items, const Packing& packing, std::int64_t alignment = 1) {
  ASSERT_EQ(packing.offsets.size(), items.size());
  std::int64_t height = 0, bound = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t offset = packing.offsets[i];
    EXPECT_GE(offset, 0);
    EXPECT_EQ(offset % alignment, 0) << "item " << i;
    const bool solid = items[i].size > 0 && items[i].lower < items[i].upper;
    if (solid) height = std::max(height, (offset + items[i].size + alignment - 1) / alignment * alignment);
    EXPECT_TRUE(solid || offset == 0) << "item " << i;
    std::int64_t live = 0;
    for (std::size_t j = 0; j < items.size(); ++j) {
      if (items[j].lower <= items[i].lower && items[i].lower < items[j].upper)
        live += (items[j].size + alignment - 1) / alignment * alignment;
      const bool both = solid && items[j].size > 0 && items[j].lower < items[j].upper;
      if (j < i && both && meet(items[i], items[j])) {
        EXPECT_TRUE(offset + items[i].size <= packing.offsets[j] || packing.offsets[j] + items[j].size <= offset)
            << "items " << j << " and " << i << " overlap";
      }
    }
    bound = std::max(bound, live);
  }
  EXPECT_EQ(packing.height, height);
  EXPECT_EQ(packing.lower_bound, bound);
  EXPECT_LE(packing.lower_bound, packing.proven);
  EXPECT_LE(packing.proven, packing.height);
  EXPECT_EQ(packing.certified, packing.proven == packing.height);
}

/// The smallest height: some order of first fit gives it.
std::int64_t smallest_height(const Items& items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  do {
    std::vector<std::int64_t> offsets(items.size());
    std::int64_t height = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      std::int64_t& offset = offsets[order[k]];
      const PackItem& item = items[order[k]];
      for (std::size_t p = 0; p < k;) {
        const std::size_t other = order[p++];
        if (!meet(item, items[other]) || offset + item.size <= offsets[other] ||
            offsets[other] + items[other].size <= offset)
          continue;
        offset = offsets[other] + items[other].size;
        p = 0;
      }
      height = std::max(height, offset + item.size);
    }
    smallest = std::min(smallest, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return smallest;
}

Items random_items(std::mt19937& random, int count, int instants, int largest) {
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  Items items;
  for (int i = 0; i < count; ++i) {
    const std::int64_t a = below(instants), b = below(instants);
    items.push_back({std::min(a, b), std::max(a, b) + 1, 1 + below(largest)});
  }
  return items;
}

TEST(Pack, NothingTakesNothing) {
  const Packing packing = pack({});
  EXPECT_EQ(packing.height, 0);
  EXPECT_TRUE(packing.certified);
}

TEST(Pack, WhatHasNoSizeOrNoLifeStandsAtZeroAndTakesNothing) {
  const Items items = {{0, 5, 0}, {3, 3, 100}, {0, 5, 8}, {2, 4, 0}, {1, 2, 8}};
  const Packing packing = pack(items);
  expect_valid(items, packing);
  EXPECT_EQ(packing.height, 16);
}

TEST(Pack, LifetimesAreHalfOpen) {
  EXPECT_EQ(pack({{0, 2, 10}, {2, 4, 10}}).height, 10);
  EXPECT_EQ(pack({{0, 3, 10}, {2, 4, 10}}).height, 20);
}

TEST(Pack, NamesTheInstantOfTheLowerBound) {
  const Packing packing = pack({{0, 10, 5}, {3, 7, 4}, {6, 9, 3}});
  EXPECT_EQ(packing.lower_bound, 12);
  EXPECT_EQ(packing.bound_instant, 6);
}

TEST(Pack, SmallInstancesAreMinimalAndCertified) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Items items = random_items(random, 2 + round % 6, 3 + round % 5, 9);
    const Packing packing = pack(items);
    expect_valid(items, packing);
    EXPECT_TRUE(packing.certified) << "round " << round;
    EXPECT_EQ(packing.height, smallest_height(items)) << "round " << round;
  }
}

/// Such instances are rare: fewer than nine items hardly ever need more than the lower bound.
TEST(Pack, ProvesThatTheLowerBoundCannotBeReached) {
  const Items full = {{0, 1, 3}, {0, 4, 3}, {1, 5, 2}, {4, 5, 1}, {1, 6, 1},
                      {4, 6, 1}, {4, 7, 1}, {5, 7, 3}, {6, 7, 2}};
  const Items loose = {{3, 6, 1}, {2, 6, 3}, {5, 7, 5}, {2, 5, 4}, {0, 3, 2},
                       {0, 1, 5}, {1, 2, 3}, {0, 6, 1}, {6, 7, 5}};
  for (const Items& items : {full, loose}) {
    const Packing packing = pack(items);
    expect_valid(items, packing);
    EXPECT_EQ(packing.height, packing.lower_bound + 1);
    EXPECT_EQ(packing.height, smallest_height(items));
    EXPECT_TRUE(packing.certified);
  }
}

TEST(Pack, RoundsSizesUpToTheAlignment) {
  std::mt19937 random(5);
  const Items items = random_items(random, 40, 30, 1000);
  const Packing packing = pack(items, {.alignment = 256});
  expect_valid(items, packing, 256);
  EXPECT_EQ(packing.height % 256, 0);
}

TEST(Pack, TheSameItemsGiveTheSamePacking) {
  std::mt19937 random(7);
  const Items items = random_items(random, 150, 60, 5000);
  const PackOptions options = {.seconds = 0.05};
  const Packing first = pack(items, options), second = pack(items, options);
  expect_valid(items, first);
  EXPECT_EQ(first.offsets, second.offsets);
  EXPECT_EQ(first.proven, second.proven);
}

TEST(Pack, ManyItemsAreNoTrouble) {
  std::mt19937 random(9);
  const Items items = random_items(random, 3000, 2000, 4096);
  expect_valid(items, pack(items, {.seconds = 0.01}));
}

/// Brief lives in a long time, for which greed alone would take many times the time that is given.
Items many_items(int count) {
  std::mt19937 random(11);
  Items items;
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < count; ++i) {
    const std::int64_t lower = below(count);
    items.push_back({lower, lower + 1 + below(100), 1 + below(4096)});
  }
  return items;
}

TEST(PackFit, CountsNodesAndGivesUpWhenItsWorkIsSpent) {
  const Items items = many_items(20'000);
  const PackTime time(items);
  const std::vector<int> order = PackOrders(items, time).for_greed(0);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kWork = 1'000'000, kOneItem = 100'000;
  PackFit ranges_only(items, time), nodes_too(items, time, {.node = 10, .most = kWork});
  EXPECT_LT(ranges_only.run(order, Gap::First, kMost), kMost);
  EXPECT_EQ(nodes_too.run(order, Gap::First, kMost), kMost);
  EXPECT_GT(nodes_too.work(), kWork);
  EXPECT_LT(nodes_too.work(), kWork + kOneItem);
}

TEST(Pack, WithoutTimeForGreedManyItemsArePackedAsTheyAreBorn) {
  const Items items = many_items(20'000);
  const PackTime time(items);
  const Packing packing = pack(items, {.seconds = 0.01});
  EXPECT_EQ(packing.offsets, pack_by_birth(items, time));
  EXPECT_LE(packing.height, packing.lower_bound * 5 / 4);
  EXPECT_LT(pack(items, {.seconds = 5}).height, packing.height);
}

TEST(PackByBirth, IsValidWhateverTheItems) {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    const Items items = random_items(random, 1 + round, 3 + round % 50, 1 + (1 << (round % 12)));
    Packing packing = pack(items, {.seconds = 0});
    packing.offsets = pack_by_birth(items, PackTime(items));
    packing.height = 0;
    for (std::size_t i = 0; i < items.size(); ++i)
      packing.height = std::max(packing.height, packing.offsets[i] + items[i].size);
    packing.proven = packing.lower_bound;
    packing.certified = packing.height == packing.proven;
    expect_valid(items, packing);
  }
}

TEST(Pack, StopsAtTheCapacityOrSaysThatItIsTooSmall) {
  const Items items = {{0, 2, 4}, {1, 3, 4}, {2, 4, 4}};
  EXPECT_LE(pack(items, {.capacity = 100}).height, 100);
  const Packing packing = pack(items, {.capacity = 7});
  EXPECT_EQ(packing.height, 8);
  EXPECT_GT(packing.proven, 7);
}

TEST(Pack, RefusesWhatIsNoItem) {
  const auto code_of = [](const PackItem& item) {
    try {
      pack({item});
    } catch (const Error& error) {
      return error.code;
    }
    return Exit::Done;
  };
  EXPECT_EQ(code_of({2, 1, 4}), Exit::Data);
  EXPECT_EQ(code_of({1, 2, -4}), Exit::Data);
  EXPECT_EQ(code_of({1, 2, std::int64_t{1} << 61}), Exit::Data);
}

TEST(Pack, ReachesTheLowerBoundOfC) {
  const PackTable table = read_pack_csv(LETHE_SOURCE_DIR "/tests/memopt/planner-cases/C.1048576.csv");
  EXPECT_EQ(pack(table.items).height, 1'039'360);
}

TEST(PackPromotion, WhatEndsTooHighComesFirstInTheNextRound) {
  const Items items = {{0, 1, 1}, {0, 2, 2}, {1, 2, 2}};
  const PackTime time(items);
  PackFit greedy(items, time);
  PackPromotion promotion({0, 1, 2});
  EXPECT_EQ(promotion.round(items, greedy, 4), 5);
  EXPECT_EQ(promotion.round(items, greedy, 4), 4);
  EXPECT_EQ(greedy.offsets(), (std::vector<std::int64_t>{0, 2, 0}));
}

TEST(PackOrders, StirredItemsStayNearTheirRank) {
  std::vector<int> order(100);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(1);
  EXPECT_EQ(stirred(order, 1, random), order);
  std::vector<int> moved = stirred(order, 5, random);
  EXPECT_NE(moved, order);
  for (int r = 0; r < 100; ++r) EXPECT_LT(std::abs(moved[r] - r), 5);
  std::sort(moved.begin(), moved.end());
  EXPECT_EQ(moved, order);
}

/// Instances on which simple orders need a third more than their capacity.
class PlannerCase : public ::testing::TestWithParam<const char*> {};

TEST_P(PlannerCase, FitsItsCapacity) {
  constexpr std::int64_t kCapacity = 1'048'576;
  const PackTable table =
      read_pack_csv(std::string(LETHE_SOURCE_DIR "/tests/memopt/planner-cases/") + GetParam() + ".1048576.csv");
  const Packing packing = pack(table.items, {.capacity = kCapacity, .seconds = 20});
  expect_valid(table.items, packing);
  EXPECT_LE(packing.height, kCapacity);
}

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
INSTANTIATE_TEST_SUITE_P(MiniMalloc, PlannerCase, ::testing::Values("C", "K"));
#else
INSTANTIATE_TEST_SUITE_P(MiniMalloc, PlannerCase,
                         ::testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"));
#endif

}  // namespace
}  // namespace lethe::testing
