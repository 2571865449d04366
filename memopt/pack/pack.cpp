#include "memopt/pack/pack.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "framework/error.h"
#include "framework/language/kernel.h"
#include "memopt/pack/by_birth.h"
#include "memopt/pack/fit.h"
#include "memopt/pack/orders.h"
#include "memopt/pack/restarts.h"
#include "memopt/pack/search.h"
#include "memopt/pack/time.h"

namespace lethe {
namespace {

// Measured on one core of a Sapphire Rapids server.
constexpr double kFitWorkPerSecond = 1.2e8, kSearchWorkPerSecond = 6e7;
/// Beyond so many items, or pairs of them that live together, only greed is left: the search would not get far, and it
/// goes one call deeper for each item.
constexpr std::size_t kMostItems = 4096;
constexpr std::int64_t kMostPairs = 1'000'000;
constexpr int kFirstRounds = 2, kRoundsBeforeSearch = 8;
constexpr double kMostSeconds = 1e9;  // keeps work within 64 bits
// Of more items than leave nodes in a cache also counts, in ranges looked at: a node; an item in every halving of a
// sort; and all that is done with an item before greed and, should greed not finish, after.
constexpr std::size_t kMostInCache = std::size_t{1} << 16;
constexpr std::int64_t kNodeWork = 10, kSortWork = 3, kItemWork = 160;
// Work of the search's shortest turn: enough to place everything once and to go back for a while.
constexpr std::int64_t kTurn = 100'000, kTurnPerPair = 130;

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
    item.size = round_up(item.size, alignment);
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
      : items_(items),
        time_(items),
        orders_(items, time_),
        is_large_(items.size() > kMostItems),
        is_huge_(items.size() > kMostInCache),
        greedy_(items, time_, counted_work(options)),
        most_greedy_work_(greedy_work(options)),
        capacity_(options.capacity),
        seconds_left_(options.seconds) {
    if (is_huge_) greedy_.spend(kItemWork * std::ssize(items));
    const auto most = std::max_element(time_.load.begin(), time_.load.end());
    best_.lower_bound = best_.proven = *most;
    best_.bound_instant = time_.start[most - time_.load.begin()];
    best_.height = std::numeric_limits<std::int64_t>::max();
  }

  Packing run() {
    fit_greedily();
    if (best_.offsets.empty()) keep(pack_by_birth(items_, time_));
    const std::int64_t pairs = is_large_ ? 0 : pairs_that_meet();
    const bool searchable = !is_large_ && pairs <= kMostPairs;
    promote(searchable ? kRoundsBeforeSearch : std::numeric_limits<int>::max());
    if (!enough() && searchable) search_for_less(kTurn + kTurnPerPair * pairs);
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

  /// Each order twice, which is enough for almost all programs of networks; then the tightest gaps.
  void fit_greedily() {
    std::vector<std::vector<int>> orders;
    for (std::size_t rank = 0; rank < PackOrders::greedy_count() && may_go_on(); ++rank) {
      orders.push_back(orders_.for_greed(rank));
      spend_on_sorting();
      promotions_.emplace_back(orders.back());
      for (int round = 0; round < kFirstRounds; ++round) take_round(promotions_.back());
    }
    for (const std::vector<int>& order : orders)
      if (may_go_on() && greedy_.run(order, Gap::Tightest, best_.height) < best_.height) keep(greedy_.offsets());
  }

  /// Greed in rounds, by all orders in turn.
  void promote(int rounds) {
    for (int round = kFirstRounds; round < rounds && may_go_on(); ++round)
      for (PackPromotion& promotion : promotions_) take_round(promotion);
    seconds_left_ -= static_cast<double>(greedy_.work()) / kFitWorkPerSecond;
  }

  void take_round(PackPromotion& promotion) {
    if (!may_go_on()) return;
    if (promotion.round(items_, greedy_, std::max(capacity_, best_.proven)) < best_.height) keep(greedy_.offsets());
    spend_on_sorting();
  }

  /// Of few items there is one greedy packing, however little time there is.
  bool may_go_on() const {
    if (best_.offsets.empty() && !is_large_) return true;
    return !enough() && greedy_.work() < most_greedy_work_;
  }

  static std::int64_t greedy_work(const PackOptions& options) {
    return static_cast<std::int64_t>(std::min(options.seconds, kMostSeconds) * kFitWorkPerSecond);
  }

  /// The last round may take a little longer, but not as long as it likes.
  PackFitWork counted_work(const PackOptions& options) const {
    if (!is_large_) return {};
    return {.node = is_huge_ ? kNodeWork : 0, .most = greedy_work(options) / 4 * 5};
  }

  void spend_on_sorting() {
    if (is_huge_) greedy_.spend(kSortWork * std::ssize(items_) * std::bit_width(items_.size()));
  }

  std::int64_t pairs_that_meet() const {
    std::vector<int> begins = time_.begin;
    std::sort(begins.begin(), begins.end());
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < items_.size(); ++i)
      pairs += std::lower_bound(begins.begin(), begins.end(), time_.end[i]) -
               std::upper_bound(begins.begin(), begins.end(), time_.begin[i]);
    return pairs;
  }

  /// First the lower bound, or the capacity asked for; then by halves between what is proven or given up and what is
  /// found.
  void search_for_less(std::int64_t turn) {
    const auto most_work = [this](double share) {
      return static_cast<std::int64_t>(share * std::clamp(seconds_left_, 0.0, kMostSeconds) * kSearchWorkPerSecond);
    };
    if (capacity_ > best_.proven) {
      try_capacity(capacity_, turn, most_work(1));
      return;
    }
    try_capacity(best_.proven, turn, most_work(0.5));
    std::int64_t below = best_.proven;  // tried without success, or proven
    while (!enough() && best_.height - below > 1 && most_work(0.25) > turn) {
      const std::int64_t middle = below + (best_.height - below) / 2;
      if (try_capacity(middle, turn, most_work(0.25)) != SearchResult::Found) below = middle;
    }
  }

  SearchResult try_capacity(std::int64_t capacity, std::int64_t turn, std::int64_t work) {
    PackSearch search(items_, time_, capacity);
    const SearchResult result = search_with_restarts(search, orders_.for_search(), turn, work);
    seconds_left_ -= static_cast<double>(search.work()) / kSearchWorkPerSecond;
    if (result == SearchResult::Found) keep(search.offsets());
    if (result == SearchResult::Impossible) best_.proven = std::max(best_.proven, capacity + 1);
    return result;
  }

  const std::vector<PackItem>& items_;
  PackTime time_;
  PackOrders orders_;
  std::vector<PackPromotion> promotions_;  // by order
  bool is_large_;                          // greed alone takes part
  bool is_huge_;                           // and all of its work counts
  PackFit greedy_;
  std::int64_t most_greedy_work_;
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
