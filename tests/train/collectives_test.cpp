// All ranks get the sum along one tree, whoever adds it up, in the order in which they begin.
#include <gtest/gtest.h>

#include <cmath>

#include "framework/random.h"
#include "tests/train/emulated_ranks.h"

namespace lethe::testing {
namespace {

/// Adds up [begin, end) as two halves, of which the first has 1, 2, 4, 8... values, as many as it can.
float sum_along_tree(const std::vector<float>& values, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return values[begin];
  std::size_t first = 1;
  while (2 * first < end - begin) first *= 2;
  return sum_along_tree(values, begin, begin + first) + sum_along_tree(values, begin + first, end);
}

/// The number of a rank at `i`; the sum of such numbers depends on the order.
float number(std::int64_t rank, std::int64_t i) {
  Random random(1, static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(i));
  const int exponent = static_cast<int>(random.below(40)) - 20;
  return std::ldexp(static_cast<float>(random.uniform()) - 0.5F, exponent);
}

TEST(Collectives, SumAlongTheTree) {
  for (const std::int64_t ranks : {2, 3, 4, 5, 7, 8})
    for (const std::int64_t count : {1, 7, 1000, 300001}) {
      EmulatedWorld world(ranks);
      world.run([&](const std::shared_ptr<Peers>& peers) {
        std::vector<float> values, room(static_cast<std::size_t>(room_of_sum(count, ranks)));
        for (std::int64_t i = 0; i < count; ++i) values.push_back(number(peers->rank().number, i));
        peers->start_sum(values.data(), room.data(), DType::f32, count);
        peers->finish(values.data());
        for (const std::int64_t i : {std::int64_t{0}, count / 2, count - 1}) {
          std::vector<float> all;
          for (std::int64_t rank = 0; rank < ranks; ++rank) all.push_back(number(rank, i));
          EXPECT_EQ(values[i], sum_along_tree(all, 0, all.size())) << ranks << " ranks, value " << i;
        }
      });
      EXPECT_EQ(world.sent(), 2 * (ranks - 1) * count * std::int64_t{sizeof(float)});
    }
}

TEST(Collectives, AreDoneInTheOrderInWhichTheyStart) {
  EmulatedWorld world(4);
  world.run([](const std::shared_ptr<Peers>& peers) {
    const auto own = static_cast<double>(peers->rank().number);
    std::vector<double> sum = {own, 1}, room(static_cast<std::size_t>(room_of_sum(2, 4))), gathered(4);
    gathered[static_cast<std::size_t>(own)] = own + 10;
    peers->start_sum(sum.data(), room.data(), DType::f64, 2);
    peers->start_gather({{gathered.data(), 4 * sizeof(double), sizeof(double)}});
    peers->finish(gathered.data());
    peers->finish(sum.data());
    EXPECT_EQ(sum, (std::vector<double>{6, 4}));
    EXPECT_EQ(gathered, (std::vector<double>{10, 11, 12, 13}));
  });
}

}  // namespace
}  // namespace lethe::testing
