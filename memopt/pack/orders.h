// Orders in which greedy packing and the search take items.
#pragma once
#include <random>
#include <vector>

#include "memopt/pack/pack.h"
#include "memopt/pack/time.h"

namespace lethe {

/// Makes orders one at a time, since sorting a million items takes most of a second. Both arguments must outlive it.
class PackOrders {
 public:
  PackOrders(const std::vector<PackItem>& items, const PackTime& time) : items_(items), time_(time) {}

  /// Those that the search takes turns with: crowded, long and large items first, by different precedence.
  std::vector<std::vector<int>> for_search();
  /// The one of this rank for greedy packing, the most promising first: by size, crowd, area, life, birth.
  std::vector<int> for_greed(std::size_t rank);
  static std::size_t greedy_count();

 private:
  std::vector<int> sorted_by(const char* keys);
  double value(char key, int item) const;

  const std::vector<PackItem>& items_;
  const PackTime& time_;
  std::vector<std::int64_t> crowd_;  // by item; made for the first order that asks for it
};

/// The order with neighbours swapped at random: no item passes another that is `most` ranks away or farther.
std::vector<int> stirred(const std::vector<int>& order, unsigned most, std::mt19937& random);

}  // namespace lethe
