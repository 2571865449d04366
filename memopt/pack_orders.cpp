#include "memopt/pack_orders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>

namespace lethe {
namespace {

/// What items can be ordered by, each from large to small.
class Keys {
 public:
  Keys(const std::vector<PackItem>& items, const PackTime& time) : items_(items), crowd_(crowds(time)) {}

  /// `keys`, the most significant first: C crowd, W width, A area, S size, E early.
  std::vector<int> order(const std::string& keys) const {
    std::vector<int> order(items_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      for (const char key : keys)
        if (const double x = value(key, a), y = value(key, b); x != y) return x > y;
      return a < b;
    });
    return order;
  }

 private:
  /// The largest load during each item's life, from a table of maxima over spans of 2^k sections.
  static std::vector<std::int64_t> crowds(const PackTime& time) {
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

  /// Rounding of what passes 2^53 only makes ties.
  double value(char key, int i) const {
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

  const std::vector<PackItem>& items_;
  std::vector<std::int64_t> crowd_;
};

}  // namespace

std::vector<std::vector<int>> search_orders(const std::vector<PackItem>& items, const PackTime& time) {
  const Keys keys(items, time);
  return {keys.order("CWA"), keys.order("CAW"), keys.order("WAC")};
}

std::vector<std::vector<int>> greedy_orders(const std::vector<PackItem>& items, const PackTime& time) {
  const Keys keys(items, time);
  return {keys.order("SW"),  keys.order("CWA"), keys.order("CSW"), keys.order("E"),
          keys.order("WAC"), keys.order("AS"),  keys.order("CAW"), keys.order("ES")};
}

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
