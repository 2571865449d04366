#include "memopt/pack_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace lethe {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;
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
  std::vector<int> by_birth(count_);
  std::iota(by_birth.begin(), by_birth.end(), 0);
  std::sort(by_birth.begin(), by_birth.end(), [&](int a, int b) { return time.begin[a] < time.begin[b]; });
  for (const PackItem& item : items) size_.push_back(item.size);
  for (int i = 0; i < count_; ++i)
    for (int j = i + 1; j < count_ && time.begin[by_birth[j]] < time.end[by_birth[i]]; ++j) {
      const int a = by_birth[i], b = by_birth[j];
      overlaps_[a].push_back(b);
      overlaps_[b].push_back(a);
      if (items[a] == items[b]) twins_[a].push_back(b), twins_[b].push_back(a);
    }
  weight_.assign(time.sections, 1);
  failed_.assign(kFailedStates, 0);
  for (auto* v : {&rest_, &room_, &first_top_, &lowest_top_, &firsts_, &score_}) v->resize(time.sections);
  crossing_.resize(time.sections + 1);
}

SearchResult PackSearch::run(const std::vector<int>& order, Guide guide, std::int64_t work) {
  guide_ = guide;
  rank_.resize(count_);
  for (int r = 0; r < count_; ++r) rank_[order[r]] = r;
  placed_.assign(count_, 0);
  lifted_.assign(count_, 0);
  place_.assign(count_, 0);
  low_.assign(count_, 0);
  std::fill(rest_.begin(), rest_.end(), 0);
  std::fill(crossing_.begin(), crossing_.end(), 0);
  trail_.clear();
  std::vector<int> all = order;
  for (const int i : all) count(i, 1);
  work_left_ = work;
  const SearchResult result = search_parts(all);
  work_ += work - work_left_;
  return result;
}

/// Adds (+1) or takes away (-1) an item from what is still to be placed.
void PackSearch::count(int item, int sign) {
  for (int s = time_.begin[item]; s < time_.end[item]; ++s) rest_[s] += sign * size_[item];
  for (int s = time_.begin[item] + 1; s < time_.end[item]; ++s) crossing_[s] += sign;
}

void PackSearch::change(int item, std::int64_t place, std::int64_t low, bool lifted) {
  trail_.push_back({item, place_[item], low_[item], lifted_[item] != 0});
  place_[item] = place;
  low_[item] = low;
  lifted_[item] = lifted;
}

void PackSearch::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    const Change& was = trail_.back();
    place_[was.item] = was.place;
    low_[was.item] = was.low;
    lifted_[was.item] = was.lifted;
  }
}

SearchResult PackSearch::search_parts(std::vector<int>& items) {
  if (items.empty()) return SearchResult::Found;
  std::sort(items.begin(), items.end(), [&](int a, int b) { return time_.begin[a] < time_.begin[b]; });
  std::vector<Part> parts;
  for (const int i : items) {
    if (parts.empty() || time_.begin[i] >= parts.back().end) parts.push_back({{}, time_.begin[i], 0});
    parts.back().items.push_back(i);
    parts.back().end = std::max(parts.back().end, time_.end[i]);
  }
  if (parts.size() == 1) return search(parts[0]);
  const auto weight = [&](const Part& p) {
    return *std::max_element(weight_.begin() + p.begin, weight_.begin() + p.end);
  };
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) { return weight(a) > weight(b); });
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const SearchResult result = search(parts[p]);
    if (result == SearchResult::Found) continue;
    if (result == SearchResult::Impossible)
      for (std::size_t done = 0; done < p; ++done)
        for (const int i : parts[done].items) placed_[i] = 0, count(i, 1);
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
    lift_twins(item);
    if (!tighten(part)) break;
  }
  remembered = key;
  return fail();
}

void PackSearch::lift_twins(int item) {
  for (const int twin : twins_[item])
    if (!placed_[twin] && !lifted_[twin] && place_[twin] == place_[item]) change(twin, place_[twin], low_[twin], true);
}

SearchResult PackSearch::place(const Part& part, int item) {
  const std::size_t mark = trail_.size();
  const std::int64_t top = place_[item] + size_[item];
  placed_[item] = 1;
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
    placed_[item] = 0;
    count(item, 1);
  }
  return result;
}

bool PackSearch::fail_at_section(int s) {
  ++weight_[s];
  return false;
}

bool PackSearch::fail_at_item(int i) {
  for (int s = time_.begin[i]; s < time_.end[i]; ++s) ++weight_[s];
  return false;
}

/// Raises lows as far as they follow from each other. False if something no longer fits.
bool PackSearch::tighten(const Part& part) {
  for (int s = part.begin; s < part.end; ++s) room_[s] = capacity_ - rest_[s];
  for (bool changed = true; changed;) {
    changed = false;
    if (!sections_fit(part) || !raise(part, changed)) return false;
  }
  return true;
}

bool PackSearch::sections_fit(const Part& part) {
  std::fill(first_top_.begin() + part.begin, first_top_.begin() + part.end, kFar);
  std::fill(lowest_top_.begin() + part.begin, lowest_top_.begin() + part.end, kFar);
  std::fill(firsts_.begin() + part.begin, firsts_.begin() + part.end, 0);
  for (const int i : part.items) {
    const std::int64_t low = low_[i], top = low + size_[i];
    for (int s = time_.begin[i]; s < time_.end[i]; ++s) {
      const bool first = low <= room_[s];
      first_top_[s] = std::min(first_top_[s], first ? top : kFar);
      lowest_top_[s] = std::min(lowest_top_[s], top);
      firsts_[s] += first;
    }
    work_left_ -= 4 + (time_.end[i] - time_.begin[i]) / 4;
  }
  for (int s = part.begin; s < part.end; ++s)
    if (firsts_[s] == 0) return fail_at_section(s);
  return true;
}

bool PackSearch::raise(const Part& part, bool& changed) {
  for (const int i : part.items) {
    const std::int64_t low = low_[i];
    std::int64_t need = low;
    for (int s = time_.begin[i]; s < time_.end[i]; ++s)
      need = std::max(need, low > room_[s] ? first_top_[s] : 0);  // stands on what comes first
    if (lifted_[i] || need > place_[i]) need = std::max(need, lifted_low(i));
    if (need == low) continue;
    if (need + size_[i] > capacity_) return fail_at_item(i);
    change(i, place_[i], need, lifted_[i]);
    changed = true;
  }
  return true;
}

/// The lowest top of what can be in the way where the item stands now.
std::int64_t PackSearch::lifted_low(int item) const {
  const std::int64_t top = place_[item] + size_[item];
  std::int64_t low = kFar;
  for (const int other : overlaps_[item])
    if (!placed_[other] && low_[other] < top) low = std::min(low, low_[other] + size_[other]);
  return low;
}

/// The item to decide on next; -1 if there is none, and so no packing.
int PackSearch::choose(const Part& part) {
  constexpr std::int64_t kScale = 1'000'000;
  for (int s = part.begin; s < part.end; ++s) score_[s] = kScale * firsts_[s] / weight_[s];
  using Choice = std::tuple<std::int64_t, std::int64_t, int>;
  Choice best;
  int chosen = -1;
  for (const int i : part.items) {
    if (lifted_[i] || low_[i] > place_[i]) continue;
    std::int64_t score = kFar, under = kFar;
    for (int s = time_.begin[i]; s < time_.end[i]; ++s) {
      score = std::min(score, score_[s]);
      under = std::min(under, lowest_top_[s]);
    }
    if (under <= low_[i]) continue;  // something can slide under it
    const Choice choice(guide_ == Guide::Conflict ? score : 0, low_[i], rank_[i]);
    if (chosen < 0 || choice < best) chosen = i, best = choice;
  }
  return chosen;
}

/// What decides whether a state can be completed: which items are left, where each stands, and which will be lifted.
std::uint64_t PackSearch::key_of(const Part& part) const {
  std::uint64_t key = 1;
  for (const int i : part.items)
    key += mixed(mixed(static_cast<std::uint64_t>(i)) ^ static_cast<std::uint64_t>(2 * place_[i] + lifted_[i]));
  return key;
}

}  // namespace lethe
