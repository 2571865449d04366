#include "memopt/pack/by_birth.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>
#include <utility>

namespace lethe {
namespace {

constexpr int kNoRange = -1;

/// Ranges side by side from 0 up to the top, each free or taken.
class Ranges {
 public:
  Ranges() { lists_.fill(kNoRange); }

  std::int64_t begin(int range) const { return ranges_[range].begin; }

  /// The range that was taken.
  int take(std::int64_t size) {
    const int list = first_list(list_of(size - 1) + 1);  // the first in which all are large enough
    if (list == kLists) return on_top(size);
    const int range = lists_[list];
    unlist(range);
    if (ranges_[range].size > size) split(range, size);
    return range;
  }

  void give_back(int range) {
    if (const int below = ranges_[range].below; is_free(below)) {
      unlist(below);
      range = joined(below, range);
    }
    if (const int above = ranges_[range].above; is_free(above)) {
      unlist(above);
      range = joined(range, above);
    }
    if (range == highest_)
      drop_highest();
    else
      enlist(range);
  }

 private:
  static constexpr int kBits = 3;  // 2^3 lists to a power of two
  static constexpr int kLists = 64 << kBits;

  struct Range {
    std::int64_t begin = 0, size = 0;
    int below = kNoRange, above = kNoRange;   // neighbours
    int before = kNoRange, after = kNoRange;  // in the list
    bool free = false;
  };

  /// Grows with the size. Sizes of one list differ by an eighth at most.
  static int list_of(std::int64_t size) {
    const auto bits = static_cast<std::uint64_t>(size);
    const int power = std::bit_width(bits);
    if (power <= kBits + 1) return static_cast<int>(size);
    return ((power - kBits) << kBits) + static_cast<int>(bits >> (power - kBits - 1) & ((1U << kBits) - 1));
  }

  /// The first list from `list` on that has a range; kLists if there is none.
  int first_list(int list) const {
    for (int word = list / 64, skipped = list % 64; word < kLists / 64; ++word, skipped = 0)
      if (const std::uint64_t rest = filled_[word] >> skipped; rest != 0)
        return 64 * word + skipped + std::countr_zero(rest);
    return kLists;
  }

  bool is_free(int range) const { return range != kNoRange && ranges_[range].free; }

  int made(const Range& range) {
    if (unused_.empty()) {
      ranges_.push_back(range);
      return static_cast<int>(ranges_.size()) - 1;
    }
    const int index = unused_.back();
    unused_.pop_back();
    ranges_[index] = range;
    return index;
  }

  int on_top(std::int64_t size) {
    const int range = made({.begin = std::exchange(top_, top_ + size), .size = size, .below = highest_});
    if (highest_ != kNoRange) ranges_[highest_].above = range;
    return highest_ = range;
  }

  void drop_highest() {
    top_ = ranges_[highest_].begin;
    unused_.push_back(highest_);
    highest_ = ranges_[highest_].below;
    if (highest_ != kNoRange) ranges_[highest_].above = kNoRange;
  }

  /// What the range has beyond `size` becomes a free one. A free range is never the highest.
  void split(int range, std::int64_t size) {
    const Range whole = ranges_[range];
    const int rest = made({whole.begin + size, whole.size - size, range, whole.above});
    ranges_[whole.above].below = rest;
    ranges_[range].above = rest;
    ranges_[range].size = size;
    enlist(rest);
  }

  int joined(int low, int high) {
    ranges_[low].size += ranges_[high].size;
    ranges_[low].above = ranges_[high].above;
    if (high == highest_)
      highest_ = low;
    else
      ranges_[ranges_[low].above].below = low;
    unused_.push_back(high);
    return low;
  }

  void enlist(int range) {
    const int list = list_of(ranges_[range].size);
    ranges_[range].free = true;
    ranges_[range].before = kNoRange;
    ranges_[range].after = lists_[list];
    if (lists_[list] != kNoRange) ranges_[lists_[list]].before = range;
    lists_[list] = range;
    filled_[list / 64] |= std::uint64_t{1} << (list % 64);
  }

  void unlist(int range) {
    const auto [before, after] = std::pair(ranges_[range].before, ranges_[range].after);
    const int list = list_of(ranges_[range].size);
    if (before != kNoRange)
      ranges_[before].after = after;
    else
      lists_[list] = after;
    if (after != kNoRange) ranges_[after].before = before;
    if (lists_[list] == kNoRange) filled_[list / 64] &= ~(std::uint64_t{1} << (list % 64));
    ranges_[range].free = false;
  }

  std::vector<Range> ranges_;
  std::vector<int> unused_;                          // places in it
  std::array<int, kLists> lists_{};                  // the first range of each
  std::array<std::uint64_t, kLists / 64> filled_{};  // a bit a list
  int highest_ = kNoRange;
  std::int64_t top_ = 0;
};

}  // namespace

std::vector<std::int64_t> pack_by_birth(const std::vector<PackItem>& items, const PackTime& time) {
  std::vector<int> births(items.size());
  std::iota(births.begin(), births.end(), 0);
  std::vector<int> deaths = births;
  std::sort(births.begin(), births.end(), [&](int a, int b) {
    return std::tuple(time.begin[a], -items[a].size, a) < std::tuple(time.begin[b], -items[b].size, b);
  });
  std::sort(deaths.begin(), deaths.end(),
            [&](int a, int b) { return std::pair(time.end[a], a) < std::pair(time.end[b], b); });
  Ranges ranges;
  std::vector<int> range_of(items.size());
  std::vector<std::int64_t> offsets(items.size());
  auto dead = deaths.begin();
  for (const int item : births) {
    for (; time.end[*dead] <= time.begin[item]; ++dead) ranges.give_back(range_of[*dead]);
    range_of[item] = ranges.take(items[item].size);
    offsets[item] = ranges.begin(range_of[item]);
  }
  return offsets;
}

}  // namespace lethe
