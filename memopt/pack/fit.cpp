#include "memopt/pack/fit.h"

#include <algorithm>
#include <limits>

namespace lethe {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMovesANode = 64;  // ranges that are moved in the time a node takes

}  // namespace

std::int64_t OffsetRanges::add(Range range) {
  const auto from = std::lower_bound(ranges_.begin(), ranges_.end(), range.begin,
                                     [](const Range& r, std::int64_t begin) { return r.end < begin; });
  auto to = from;
  for (; to != ranges_.end() && to->begin <= range.end; ++to) {
    range.begin = std::min(range.begin, to->begin);
    range.end = std::max(range.end, to->end);
  }
  const std::int64_t moved = to - from == 1 ? 0 : ranges_.end() - to;
  if (from == to) {
    ranges_.insert(from, range);
  } else {
    *from = range;
    ranges_.erase(from + 1, to);
  }
  return moved;
}

PackFit::PackFit(const std::vector<PackItem>& items, const PackTime& time, const PackFitWork& counted)
    : items_(items), time_(time), counted_(counted), offsets_(items.size()) {
  std::size_t leaves = 1;
  while (leaves < static_cast<std::size_t>(time.sections)) leaves *= 2;
  nodes_.resize(2 * leaves);
}

std::int64_t PackFit::run(const std::vector<int>& order, Gap which, std::int64_t most) {
  for (Node& node : nodes_) node.throughout.clear(), node.somewhere.clear();
  const int leaves = static_cast<int>(nodes_.size() / 2);
  std::int64_t height = 0;
  for (const int item : order) {
    if (work_ > counted_.most) return most;
    cursors_.clear();
    gather(1, 0, leaves, item);
    offsets_[item] = find_gap(item, which);
    const std::int64_t top = offsets_[item] + items_[item].size;
    if (top >= most) return most;
    height = std::max(height, top);
    take(1, 0, leaves, item, {offsets_[item], top});
  }
  return height;
}

/// The taken ranges that the item must not meet: of the nodes that make up its life, and of those above them.
void PackFit::gather(std::size_t node, int begin, int end, int item) {
  if (time_.end[item] <= begin || end <= time_.begin[item]) return;
  work_ += counted_.node;
  const bool whole = time_.begin[item] <= begin && end <= time_.end[item];
  const OffsetRanges& taken = whole ? nodes_[node].somewhere : nodes_[node].throughout;
  if (!taken.ranges().empty()) cursors_.push_back({&taken.ranges(), 0});
  if (whole) return;
  const int middle = begin + (end - begin) / 2;
  gather(2 * node, begin, middle, item);
  gather(2 * node + 1, middle, end, item);
}

void PackFit::take(std::size_t node, int begin, int end, int item, OffsetRanges::Range range) {
  if (time_.end[item] <= begin || end <= time_.begin[item]) return;
  std::int64_t moved = nodes_[node].somewhere.add(range);
  const bool whole = time_.begin[item] <= begin && end <= time_.end[item];
  if (whole) moved += nodes_[node].throughout.add(range);
  work_ += counted_.node * (1 + moved / kMovesANode);
  if (whole) return;
  const int middle = begin + (end - begin) / 2;
  take(2 * node, begin, middle, item, range);
  take(2 * node + 1, middle, end, item, range);
}

/// The next gap of at least `size` from `at` on, which moves to its begin. The gap's size.
std::int64_t PackFit::first_gap(std::int64_t& at, std::int64_t size) {
  for (;;) {
    std::int64_t next = kFar;
    const std::int64_t before = at;
    for (Cursor& cursor : cursors_) {
      const std::vector<OffsetRanges::Range>& ranges = *cursor.ranges;
      while (cursor.at < ranges.size() && ranges[cursor.at].end <= at) ++cursor.at, ++work_;
      if (cursor.at == ranges.size()) continue;
      if (ranges[cursor.at].begin <= at) {
        at = ranges[cursor.at].end;
      } else {
        next = std::min(next, ranges[cursor.at].begin);
      }
    }
    work_ += static_cast<std::int64_t>(cursors_.size());
    if (at != before) continue;
    if (next - at >= size) return next - at;
    at = next;
  }
}

std::int64_t PackFit::find_gap(int item, Gap which) {
  const std::int64_t size = items_[item].size;
  std::int64_t at = 0, best = 0, best_gap = 0;
  for (bool first = true;; first = false) {
    const std::int64_t gap = first_gap(at, size);
    if (first || gap < best_gap) best = at, best_gap = gap;
    if (which == Gap::First || gap >= kFar - at || best_gap == size) return best;
    at += gap;
  }
}

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
