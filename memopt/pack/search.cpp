#include "memopt/pack/search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace lethe {
namespace {

constexpr std::int64_t kUnreachable = std::numeric_limits<std::int64_t>::max() / 2;
constexpr std::size_t kFailedStates = std::size_t{1} << 20;

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of SplitMix64 (Steele, Lea, Flood, 2014)
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

PackSearch::PackSearch(const std::vector<PackItem>& items, const PackTime& time, std::int64_t capacity)
    : time_(time), capacity_(capacity), count_(static_cast<int>(items.size())) {
  overlaps_.resize(count_);
  twins_.resize(count_);
  by_birth_.resize(count_);
  std::iota(by_birth_.begin(), by_birth_.end(), 0);
  std::stable_sort(by_birth_.begin(), by_birth_.end(), [&](int a, int b) { return time.begin[a] < time.begin[b]; });
  live_.resize(time.sections);
  for (const int a : by_birth_)
    for (int s = time.begin[a]; s < time.end[a]; ++s) live_[s].push_back(a);
  for (const PackItem& item : items) size_.push_back(item.size);
  for (int i = 0; i < count_; ++i)
    for (int j = i + 1; j < count_ && time.begin[by_birth_[j]] < time.end[by_birth_[i]]; ++j) {
      const int a = by_birth_[i], b = by_birth_[j];
      overlaps_[a].push_back(b);
      overlaps_[b].push_back(a);
      if (items[a] == items[b]) twins_[a].push_back(b), twins_[b].push_back(a);
    }
  failed_.assign(kFailedStates, 0);
  for (auto* v : {&room_, &first_top_, &lowest_top_}) v->resize(time.sections);
  firsts_.resize(time.sections);
  score_.resize(time.sections);
  queued_.resize(count_);
}

SearchResult PackSearch::run(const std::vector<int>& order, Guide guide, std::int64_t work) {
  guide_ = guide;
  rank_.resize(count_);
  for (int r = 0; r < count_; ++r) rank_[order[r]] = r;
  placed_.assign(count_, 0);
  will_rise_.assign(count_, 0);
  place_.assign(count_, 0);
  low_.assign(count_, 0);
  std::fill(room_.begin(), room_.end(), capacity_);
  stale_.assign(time_.sections, 1);
  dirty_.assign(time_.sections, 1);
  weight_.assign(time_.sections, 1);
  trail_.clear();
  for (const int i : by_birth_) count(i, 1);
  work_left_ = work;
  const SearchResult result = search_parts(by_birth_);
  work_ += work - work_left_;
  return result;
}

/// Adds (+1) or takes away (-1) an item from what is still to be placed.
void PackSearch::count(int item, int sign) {
  for (int s = time_.begin[item]; s < time_.end[item]; ++s) {
    room_[s] -= sign * size_[item];
    stale_[s] = dirty_[s] = 1;
  }
}

void PackSearch::change(int item, std::int64_t place, std::int64_t low, bool will_rise) {
  trail_.push_back({item, place_[item], low_[item], will_rise_[item] != 0});
  place_[item] = place;
  low_[item] = low;
  will_rise_[item] = will_rise;
  for (int s = time_.begin[item]; s < time_.end[item]; ++s) stale_[s] = dirty_[s] = 1;
}

/// What was there before is not dirty: all that followed from it had been found.
void PackSearch::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& was = trail_.back();
    place_[was.item] = was.place;
    low_[was.item] = was.low;
    will_rise_[was.item] = was.will_rise;
    for (int s = time_.begin[was.item]; s < time_.end[was.item]; ++s) stale_[s] = 1;
  }
}

/// `items` by birth.
std::vector<PackSearch::Part> PackSearch::parts_of(const std::vector<int>& items) const {
  std::vector<Part> parts;
  for (const int i : items) {
    if (parts.empty() || time_.begin[i] >= parts.back().end) parts.push_back({{}, time_.begin[i], 0});
    parts.back().items.push_back(i);
    parts.back().end = std::max(parts.back().end, time_.end[i]);
  }
  return parts;
}

/// The parts where most failed first.
void PackSearch::sort_parts(std::vector<Part>& parts) const {
  const auto weight = [this](const Part& p) {
    return *std::max_element(weight_.begin() + p.begin, weight_.begin() + p.end);
  };
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) { return weight(a) > weight(b); });
}

SearchResult PackSearch::search_parts(const std::vector<int>& items) {
  std::vector<Part> parts = parts_of(items);
  if (parts.size() > 1) sort_parts(parts);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const SearchResult result = search(parts[p]);
    if (result == SearchResult::Found) continue;
    if (result == SearchResult::Impossible)
      for (std::size_t done = 0; done < p; ++done)
        for (const int i : parts[done].items) take_back(i);
    return result;
  }
  return SearchResult::Found;
}

SearchResult PackSearch::search(const Part& part) {
  const std::size_t mark = trail_.size();
  const auto fail = [&] {
    undo(mark);
    return SearchResult::Impossible;
  };
  if (!tighten(part)) return fail();
  const std::uint64_t key = key_of(part);
  std::uint64_t& remembered = failed_[key % kFailedStates];
  if (remembered == key) return fail();
  for (;;) {
    if (work_left_ < 0) return SearchResult::OutOfWork;
    const int item = choose(part);
    if (item < 0) break;
    const SearchResult result = place(part, item);
    if (result != SearchResult::Impossible) return result;
    change(item, place_[item], low_[item], true);
    raise_twins(item);
    if (!tighten(part)) break;
  }
  remembered = key;
  return fail();
}

void PackSearch::raise_twins(int item) {
  for (const int twin : twins_[item])
    if (!placed_[twin] && !will_rise_[twin] && place_[twin] == place_[item])
      change(twin, place_[twin], low_[twin], true);
}

SearchResult PackSearch::place(const Part& part, int item) {
  const std::size_t mark = trail_.size();
  const std::int64_t top = place_[item] + size_[item];
  placed_[item] = 1;
  low_[item] = kUnreachable;
  count(item, -1);
  for (const int other : overlaps_[item])
    if (!placed_[other] && place_[other] < top) change(other, top, std::max(low_[other], top), false);
  std::vector<int> rest;
  rest.reserve(part.items.size());
  for (const int i : part.items)
    if (i != item) rest.push_back(i);
  const SearchResult result = search_parts(rest);
  if (result == SearchResult::Impossible) {
    undo(mark);
    take_back(item);
  }
  return result;
}

void PackSearch::take_back(int item) {
  placed_[item] = 0;
  low_[item] = place_[item];
  count(item, 1);
}

bool PackSearch::fail_at(int section) {
  ++weight_[section];
  return false;
}

void PackSearch::clear_dirty(const Part& part) { std::fill(dirty_.begin() + part.begin, dirty_.begin() + part.end, 0); }

/// Raises lows as far as they follow from each other. False if something no longer fits.
bool PackSearch::tighten(const Part& part) {
  for (;;) {
    const std::size_t mark = trail_.size();
    if (!gather_dirty(part)) return false;
    bool fits = true;
    for (const int i : queue_) {
      queued_[i] = 0;
      fits = fits && raise(i);
    }
    queue_.clear();
    if (!fits) clear_dirty(part);
    if (!fits || trail_.size() == mark) return fits;
  }
}

/// Queues the items that may have to be higher. False if somewhere nothing can come first.
bool PackSearch::gather_dirty(const Part& part) {
  work_left_ -= 4 + (part.end - part.begin) / 16;
  for (int s = part.begin; s < part.end; ++s) {
    if (stale_[s]) refresh(s);
    if (firsts_[s] > 0) continue;
    clear_dirty(part);
    return fail_at(s);
  }
  for (int s = part.begin; s < part.end; ++s) {
    if (!dirty_[s]) continue;
    dirty_[s] = 0;
    for (const int i : live_[s]) {
      const bool blocked = low_[i] > room_[s] || low_[i] > place_[i] || will_rise_[i];
      if (blocked && !placed_[i] && !queued_[i]) queued_[i] = 1, queue_.push_back(i);
    }
  }
  return true;
}

void PackSearch::refresh(int section) {
  const std::int64_t room = room_[section];
  std::int64_t first_top = kUnreachable, lowest_top = kUnreachable;
  int firsts = 0;
  for (const int i : live_[section]) {
    const std::int64_t low = low_[i], top = low + size_[i];
    const bool first = low <= room;
    first_top = std::min(first_top, first ? top : kUnreachable);
    lowest_top = std::min(lowest_top, top);
    firsts += first;
  }
  work_left_ -= 1 + static_cast<std::int64_t>(live_[section].size()) / 4;
  first_top_[section] = first_top;
  lowest_top_[section] = lowest_top;
  firsts_[section] = firsts;
  stale_[section] = 0;
}

bool PackSearch::raise(int item) {
  const std::int64_t low = low_[item];
  std::int64_t need = low;
  for (int s = time_.begin[item]; s < time_.end[item]; ++s)
    if (low > room_[s]) need = std::max(need, first_top_[s]);  // stands on what comes first
  work_left_ -= 1 + (time_.end[item] - time_.begin[item]) / 8;
  if (will_rise_[item] || need > place_[item]) need = std::max(need, low_if_raised(item));
  if (need == low) return true;
  if (need + size_[item] > capacity_) {
    for (int s = time_.begin[item]; s < time_.end[item]; ++s) fail_at(s);
    return false;
  }
  change(item, place_[item], need, will_rise_[item]);
  return true;
}

/// The lowest top of what can be in the way where the item stands now.
std::int64_t PackSearch::low_if_raised(int item) const {
  const std::int64_t top = place_[item] + size_[item];
  std::int64_t low = kUnreachable;
  for (const int other : overlaps_[item])
    if (low_[other] < top) low = std::min(low, low_[other] + size_[other]);
  return low;
}

bool PackSearch::can_slide_under(int item) const {
  const auto tops = lowest_top_.begin();
  return std::any_of(tops + time_.begin[item], tops + time_.end[item], [&](auto top) { return top <= low_[item]; });
}

/// The item to decide on next; -1 if there is none, and so no packing.
int PackSearch::choose(const Part& part) {
  const bool by_score = guide_ == Guide::Conflict;
  for (int s = part.begin; by_score && s < part.end; ++s) score_[s] = firsts_[s] / weight_[s];
  int chosen = -1;
  std::tuple<double, std::int64_t, int> best;
  for (const int i : part.items) {
    if (will_rise_[i] || low_[i] > place_[i]) continue;
    std::tuple<double, std::int64_t, int> choice(0, low_[i], rank_[i]);
    if ((!by_score && chosen >= 0 && choice > best) || can_slide_under(i)) continue;
    if (by_score)
      std::get<0>(choice) = *std::min_element(score_.begin() + time_.begin[i], score_.begin() + time_.end[i]);
    if (chosen < 0 || choice < best) chosen = i, best = choice;
  }
  return chosen;
}

/// What decides whether a state can be completed: which items are left, where each stands, and which will rise.
std::uint64_t PackSearch::key_of(const Part& part) const {
  std::uint64_t key = 1;
  for (const int i : part.items)
    key += mixed(mixed(static_cast<std::uint64_t>(i)) ^ static_cast<std::uint64_t>(2 * place_[i] + will_rise_[i]));
  return key;
}

}  // namespace lethe
