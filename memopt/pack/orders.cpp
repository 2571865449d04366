#include "memopt/pack/orders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace lethe {
namespace {

/// What items are ordered by, each from large to small, the most significant first: C crowd, W width, A area, S size,
/// E early.
constexpr std::array<const char*, 8> kGreedyKeys = {"SW", "CWA", "CSW", "E", "WAC", "AS", "CAW", "ES"};

/// The largest load during each item's life, from a table of maxima over spans of 2^k sections.
std::vector<std::int64_t> crowds(const PackTime& time) {
  std::vector<std::vector<std::int64_t>> spans = {time.load};
  for (std::size_t span = 1; 2 * span <= time.load.size(); span *= 2) {
    const std::vector<std::int64_t>& half = spans.back();
    std::vector<std::int64_t> most(half.size() - span);
    for (std::size_t s = 0; s < most.size(); ++s) most[s] = std::max(half[s], half[s + span]);
    spans.push_back(std::move(most));
  }
  std::vector<std::int64_t> crowd;
  for (std::size_t i = 0; i < time.begin.size(); ++i) {
    const int k = 31 - __builtin_clz(static_cast<unsigned>(time.end[i] - time.begin[i]));
    crowd.push_back(std::max(spans[k][time.begin[i]], spans[k][time.end[i] - (1 << k)]));
  }
  return crowd;
}

}  // namespace

/// Rounding of what passes 2^53 only makes ties.
double PackOrders::value(char key, int i) const {
  const PackItem& item = items_[i];
  const double width = static_cast<double>(item.upper) - static_cast<double>(item.lower);
  const double size = static_cast<double>(item.size);
  switch (key) {
    case 'C':
      return static_cast<double>(crowd_[i]);
    case 'W':
      return width;
    case 'A':
      return width * size;
    case 'S':
      return size;
    default:
      return -static_cast<double>(item.lower);
  }
}

std::vector<int> PackOrders::sorted_by(const char* keys) {
  const std::string_view all = keys;
  if (crowd_.empty() && all.find('C') != all.npos) crowd_ = crowds(time_);
  std::vector<int> order(items_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    for (const char key : all)
      if (const double x = value(key, a), y = value(key, b); x != y) return x > y;
    return a < b;
  });
  return order;
}

std::vector<std::vector<int>> PackOrders::for_search() {
  return {sorted_by("CWA"), sorted_by("CAW"), sorted_by("WAC")};
}

std::vector<int> PackOrders::for_greed(std::size_t rank) { return sorted_by(kGreedyKeys[rank]); }

std::size_t PackOrders::greedy_count() { return kGreedyKeys.size(); }

std::vector<int> stirred(const std::vector<int>& order, unsigned most, std::mt19937& random) {
  constexpr unsigned kFine = 1024;  // parts of a rank
  std::vector<std::pair<std::uint64_t, int>> ranked;
  for (const int item : order) ranked.emplace_back(ranked.size() * kFine + random() % (most * kFine), item);
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> result;
  for (const auto& [rank, item] : ranked) result.push_back(item);
  return result;
}

}  // namespace lethe
