// Orders in which greedy packing and the search take items.
#pragma once
#include <random>
#include <vector>

#include "memopt/pack.h"
#include "memopt/pack_time.h"

namespace lethe {

/// Those that the search takes turns with: crowded, long and large items first, by different precedence.
std::vector<std::vector<int>> search_orders(const std::vector<PackItem>& items, const PackTime& time);
/// Those for greedy packing, the most promising first: the ones above, then by size, area, life, birth.
std::vector<std::vector<int>> greedy_orders(const std::vector<PackItem>& items, const PackTime& time);
/// The order with neighbours swapped at random: no item passes another that is `most` ranks away or farther.
std::vector<int> stirred(const std::vector<int>& order, unsigned most, std::mt19937& random);

}  // namespace lethe
