#include "memopt/pack_promotion.h"

#include <algorithm>
#include <limits>

namespace lethe {

PackPromotion::PackPromotion(std::vector<int> order) : order_(std::move(order)), rank_(order_.size()) {
  for (std::size_t r = 0; r < order_.size(); ++r) rank_[order_[r]] = static_cast<std::int64_t>(r);
}

std::int64_t PackPromotion::round(const std::vector<PackItem>& items, PackFit& greedy, std::int64_t target) {
  const std::int64_t height = greedy.run(order_, Gap::First, std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < items.size(); ++i)
    if (greedy.offsets()[i] + items[i].size > target) rank_[i] -= static_cast<std::int64_t>(items.size());
  std::stable_sort(order_.begin(), order_.end(), [this](int a, int b) { return rank_[a] < rank_[b]; });
  return height;
}

}  // namespace lethe
