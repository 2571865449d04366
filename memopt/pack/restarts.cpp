#include "memopt/pack/restarts.h"

#include <algorithm>
#include <random>

#include "memopt/pack/orders.h"

namespace lethe {
namespace {

/// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from n = 1.
std::int64_t luby(std::int64_t n) {
  std::int64_t size = 1;
  while (size < n) size = 2 * size + 1;
  for (; size != n; size = (size - 1) / 2)
    if (n > (size - 1) / 2) n -= (size - 1) / 2;
  return (size + 1) / 2;
}

}  // namespace

SearchResult search_with_restarts(PackSearch& search, const std::vector<std::vector<int>>& orders, std::int64_t turn,
                                  std::int64_t work) {
  SearchResult result = SearchResult::OutOfWork;
  const auto take_turn = [&](const std::vector<int>& order, Guide guide, std::int64_t length) {
    if (result == SearchResult::OutOfWork && search.work() < work)
      result = search.run(order, guide, std::min(length, work - search.work()));
  };
  for (const std::vector<int>& order : orders)
    for (const Guide guide : {Guide::Lowest, Guide::Conflict}) take_turn(order, guide, turn);
  std::mt19937 random(1);
  for (std::int64_t round = 1; result == SearchResult::OutOfWork && search.work() < work; ++round)
    for (const std::vector<int>& order : orders)
      for (const unsigned most : {1U, 2U, 4U})
        take_turn(stirred(order, most, random), Guide::Conflict, turn * luby(round));
  return result;
}

}  // namespace lethe
