#include "memopt/pack.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"
#include "memopt/pack_fit.h"
#include "memopt/pack_orders.h"
#include "memopt/pack_search.h"
#include "memopt/pack_time.h"

namespace lethe {
namespace {

// Measured on one core of a Sapphire Rapids server.
constexpr double kFitWorkPerSecond = 2e8, kSearchWorkPerSecond = 1e8;
/// Beyond this many pairs that live together only greed is left: the search would not get far.
constexpr std::int64_t kMostPairs = 4'000'000;
constexpr std::int64_t kFirstTurn = 2'000'000;  // work of the search's first try of each order

/// What takes room, with sizes rounded up; `index` tells which item each is.
std::vector<PackItem> solid_items(const std::vector<PackItem>& items, std::int64_t alignment, std::vector<int>& index) {
  std::vector<PackItem> solid;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    PackItem item = items[i];
    check_as(Exit::Data, item.lower <= item.upper, "pack: item ", i, " lives from ", item.lower, " to ", item.upper);
    check_as(Exit::Data, item.size >= 0, "pack: item ", i, " has size ", item.size);
    if (item.size == 0 || item.lower == item.upper) continue;
    check_as(Exit::Data, item.size <= kMostPackBytes - alignment - total, "pack: sizes add up to more than ",
             kMostPackBytes, " bytes at item ", i);
    item.size = (item.size + alignment - 1) / alignment * alignment;
    total += item.size;
    solid.push_back(item);
    index.push_back(static_cast<int>(i));
  }
  return solid;
}

/// The way from the first packing that greed finds to the smallest that the budget allows. There is at least one item.
class Packer {
 public:
  Packer(const std::vector<PackItem>& items, const PackOptions& options)
      : items_(items), time_(items), capacity_(options.capacity), seconds_left_(options.seconds) {
    const auto most = std::max_element(time_.load.begin(), time_.load.end());
    best_.lower_bound = best_.proven = *most;
    best_.bound_instant = time_.start[most - time_.load.begin()];
    best_.height = std::numeric_limits<std::int64_t>::max();
  }

  Packing run() {
    fit_greedily();
    if (!enough() && few_pairs()) search_for_less();
    best_.certified = best_.height == best_.proven;
    return best_;
  }

 private:
  bool enough() const { return best_.height <= std::max(capacity_, best_.proven) || proven_too_large(); }
  bool proven_too_large() const {
    return capacity_ >= 0 && capacity_ < best_.proven && best_.height < std::numeric_limits<std::int64_t>::max();
  }

  void keep(const std::vector<std::int64_t>& offsets) {
    std::int64_t height = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) height = std::max(height, offsets[i] + items_[i].size);
    if (height >= best_.height) return;
    best_.height = height;
    best_.offsets = offsets;
  }

  void fit_greedily() {
    PackFit greedy(items_, time_);
    for (const std::vector<int>& order : greedy_orders(items_, time_))
      for (const Fit fit : {Fit::First, Fit::Best})
        if (!enough() && greedy.run(order, fit, best_.height) < best_.height) keep(greedy.offsets());
    seconds_left_ -= static_cast<double>(greedy.work()) / kFitWorkPerSecond;
  }

  bool few_pairs() const {
    std::vector<int> begins = time_.begin;
    std::sort(begins.begin(), begins.end());
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < items_.size(); ++i)
      pairs += std::lower_bound(begins.begin(), begins.end(), time_.end[i]) -
               std::upper_bound(begins.begin(), begins.end(), time_.begin[i]);
    return pairs <= kMostPairs;
  }

  /// First the lower bound, or the capacity asked for; then by halves between what is proven or given up and what is
  /// found.
  void search_for_less() {
    const std::vector<std::vector<int>> orders = search_orders(items_, time_);
    const auto most_work = [this](double share) {
      return static_cast<std::int64_t>(share * std::max(0.0, seconds_left_) * kSearchWorkPerSecond);
    };
    if (capacity_ > best_.proven) {
      try_capacity(capacity_, orders, most_work(1));
      return;
    }
    try_capacity(best_.proven, orders, most_work(0.5));
    std::int64_t below = best_.proven;  // tried without success, or proven
    while (!enough() && best_.height - below > 1 && most_work(0.25) > kFirstTurn) {
      const std::int64_t middle = below + (best_.height - below) / 2;
      if (try_capacity(middle, orders, most_work(0.25)) != SearchResult::Found) below = middle;
    }
  }

  /// Lets orders and guides take turns, twice as long each round.
  SearchResult try_capacity(std::int64_t capacity, const std::vector<std::vector<int>>& orders, std::int64_t work) {
    PackSearch search(items_, time_, capacity);
    SearchResult result = SearchResult::OutOfWork;
    for (std::int64_t turn = kFirstTurn; result == SearchResult::OutOfWork && search.work() < work; turn *= 2)
      for (const std::vector<int>& order : orders)
        for (const Guide guide : {Guide::Lowest, Guide::Conflict})
          if (result == SearchResult::OutOfWork && search.work() < work)
            result = search.run(order, guide, std::min(turn, work - search.work()));
    seconds_left_ -= static_cast<double>(search.work()) / kSearchWorkPerSecond;
    if (result == SearchResult::Found) keep(search.offsets());
    if (result == SearchResult::Impossible) best_.proven = std::max(best_.proven, capacity + 1);
    return result;
  }

  const std::vector<PackItem>& items_;
  PackTime time_;
  std::int64_t capacity_;
  double seconds_left_;
  Packing best_;
};

}  // namespace

Packing pack(const std::vector<PackItem>& items, const PackOptions& options) {
  check(options.alignment > 0, "pack: alignment is ", options.alignment, ", expected at least 1");
  std::vector<int> index;
  const std::vector<PackItem> solid = solid_items(items, options.alignment, index);
  Packing packing;
  packing.certified = true;
  if (!solid.empty()) packing = Packer(solid, options).run();
  std::vector<std::int64_t> offsets(items.size(), 0);
  for (std::size_t i = 0; i < solid.size(); ++i) offsets[index[i]] = packing.offsets[i];
  packing.offsets = std::move(offsets);
  return packing;
}

}  // namespace lethe
