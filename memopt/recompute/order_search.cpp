#include "memopt/recompute/order_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>

namespace lethe {
namespace {

/// Most bytes of the sets that are known and of those that wait, without what else is known of them.
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
/// Ops in a row that may run at once: all subsets of them are looked at.
constexpr std::size_t kLongestRow = 6;
/// Most ops that wait for one moment.
constexpr int kMostWaiting = 16;
/// Ops that are followed from one on.
constexpr std::size_t kMostLater = 64;

}  // namespace

OrderSearch::OrderSearch(const Tape& tape, int looks) : tape_(tape), users_(tape.values.size()), most_looks_(looks) {
  for (int i = 0; i < static_cast<int>(tape.ops.size()); ++i)
    if (!tape.ops[i].is_view) ops_.push_back(i);
  needs_.resize(ops_.size());
  then_.resize(ops_.size());
  std::vector<int> wrote(tape.values.size(), -1);
  std::vector<std::vector<int>> read(tape.values.size());
  for (int i = 0; i < count(); ++i) {
    std::set<int> before;
    for (const std::vector<VarId>* values : {&call(i).in, &call(i).out})
      for (const VarId v : *values) {
        if (wrote[v] >= 0) before.insert(wrote[v]);
        if (users_[v].empty() || users_[v].back() != i) users_[v].push_back(i);
      }
    for (const VarId v : call(i).out) before.insert(read[v].begin(), read[v].end());
    before.erase(i);
    needs_[i].assign(before.begin(), before.end());
    for (const int b : before) then_[b].push_back(i);
    for (const VarId v : call(i).in) read[v].push_back(i);
    for (const VarId v : call(i).out) wrote[v] = i, read[v].clear();
  }
  for (const TapeValue& value : tape.values)
    if (value.given) given_ += value.bytes;
  std::vector<int> with_it(ops_.size(), 1);  // by op: ops that wait for the same moment, counted as often as needed
  for (int i = 0; i < count(); ++i) {
    for (const int need : needs_[i]) with_it[i] += waits_[need] ? with_it[need] : 0;
    waits_.push_back(with_it[i] <= kMostWaiting && may_wait(i));
  }
}

bool OrderSearch::is_born(VarId v, int i, const Bits& done) const {
  return counts(v) && std::ranges::none_of(users_[v], [&](int user) { return user != i && has(done, user); });
}

bool OrderSearch::dies(VarId v, int i, const Bits& done) const {
  return counts(v) && !tape_.values[v].lasts &&
         std::ranges::all_of(users_[v], [&](int user) { return user == i || has(done, user); });
}

/// Whether the memory of one value has room for another, which nobody needs after the step.
bool OrderSearch::may_lie_in(VarId out, VarId in) const {
  const TapeValue &own = tape_.values[out], &from = tape_.values[in];
  return counts(out) && !own.lasts && own.bytes <= from.bytes;
}

/// Whether the op may wait until another needs it, or is to write over what it reads: it frees nothing whenever it
/// runs, as it alone makes what it gives, which are as many bytes as may die with it, and it takes no more while it
/// runs than each of those ops does.
bool OrderSearch::may_wait(int i) const {
  std::int64_t made = 0, dead = 0, margin = std::numeric_limits<std::int64_t>::max();
  for (const VarId v : call(i).out) {
    const std::vector<int>& users = users_[v];
    if (users.front() != i || users.size() < 2 || std::ranges::count(call(i).in, v) > 0) return false;
    made += counts(v) ? tape_.values[v].bytes : 0;
    for (const int user : std::span(users).subspan(1))
      if (std::ranges::count(call(user).out, v) > 0) return false;
  }
  for (const int k : then_[i]) margin = std::min(margin, least_beside(k));
  std::int64_t in_place = 0;
  for (const VarId v : call(i).in) {
    if (!counts(v) || outlives(v, i)) continue;
    dead += tape_.values[v].bytes;
    for (const auto& [in, out] : call(i).in_place)
      if (in == v && in_place == 0 && may_lie_in(out, in)) in_place = tape_.values[out].bytes;
  }
  return !call(i).out.empty() && made >= dead && call(i).workspace + dead - in_place <= margin;
}

/// Bytes that are alive while an op runs beside what was there before, at least.
std::int64_t OrderSearch::least_beside(int i) const {
  std::int64_t bytes = 0;
  for (const VarId v : call(i).out) {
    const auto over = [&](const auto& pair) { return pair.second == v; };
    if (counts(v) && users_[v].front() == i && std::ranges::none_of(call(i).in_place, over))
      bytes += tape_.values[v].bytes;
  }
  return bytes + call(i).workspace;
}

/// Whether some op that reads the value runs after op `i` in any order, as what comes soon after it shows.
bool OrderSearch::outlives(VarId v, int i) const {
  if (tape_.values[v].lasts) return true;
  std::vector<int> later = {i};
  for (std::size_t n = 0; n < later.size() && n < kMostLater; ++n)
    for (const int k : then_[later[n]]) {
      if (std::ranges::count(users_[v], k) > 0) return true;
      if (std::ranges::count(later, k) == 0) later.push_back(k);
    }
  return false;
}

bool OrderSearch::is_at_end() const { return looks_ > most_looks_; }

OrderSearch::Taken OrderSearch::after(const Bits& done, std::int64_t alive, int i) {
  ++looks_;
  const TapeCall& op = call(i);
  Taken taken{.peak = alive + op.workspace, .alive = alive};
  for (const VarId v : op.out)
    if (is_born(v, i, done)) {
      taken.peak += tape_.values[v].bytes;
      taken.alive += tape_.values[v].bytes;
    }
  for (const std::vector<VarId>* values : {&op.in, &op.out})
    for (const VarId v : *values)
      if (dies(v, i, done) && (values == &op.in || std::ranges::count(op.in, v) == 0))
        taken.alive -= tape_.values[v].bytes;
  std::vector<VarId> used;
  for (const auto& [in, out] : op.in_place) {
    const std::int64_t bytes = tape_.values[out].bytes;
    if (!dies(in, i, done) || !is_born(out, i, done) || !may_lie_in(out, in) ||
        std::ranges::count(used, in) + std::ranges::count(used, out) > 0)
      continue;
    used.insert(used.end(), {in, out});
    taken.peak -= bytes;
  }
  return taken;
}

std::int64_t OrderSearch::peak() {
  std::vector<int> order(ops_.size());
  std::iota(order.begin(), order.end(), 0);
  return peak_of(order);
}

std::int64_t OrderSearch::peak_of(const std::vector<int>& order) {
  Bits done(ops_.size() / 64 + 1);
  std::int64_t alive = given_, peak = given_;
  for (const int i : order) {
    const Taken taken = after(done, alive, i);
    peak = std::max(peak, taken.peak);
    alive = taken.alive;
    put(done, i);
  }
  return peak;
}

/// After op `i` and all that then leaves no byte more; nothing if more than `limit` would be alive, or at the end of
/// the work.
std::optional<OrderSearch::State> OrderSearch::moved(State state, int i, std::int64_t limit) {
  for (int next = i; next >= 0;) {
    if (!run(state, next, limit)) return std::nullopt;
    const auto free = std::ranges::find_if(state.ready, [&](int k) {
      if (std::ranges::any_of(needs_[k], [&](int need) { return !has(state.done, need); })) return false;
      const Taken then = after(state.done, state.alive, k);
      return then.alive <= state.alive && then.peak <= limit;
    });
    next = free == state.ready.end() ? -1 : *free;
  }
  return state;
}

/// Runs what the op needs of those that wait, and the op, which is ready; false if more than `limit` would be alive.
bool OrderSearch::run(State& state, int i, std::int64_t limit) {
  for (const int need : needs_[i])
    if (!has(state.done, need) && !run(state, need, limit)) return false;
  const Taken taken = after(state.done, state.alive, i);
  if (taken.peak > limit || is_at_end()) return false;
  put(state.done, i);
  state.alive = taken.alive;
  paths_.push_back({state.path, i});
  state.path = static_cast<int>(paths_.size()) - 1;
  std::erase(state.ready, i);
  add_ready(state, i);
  return true;
}

/// Ops that wait for op `i` alone, or besides for those that are to run when they are needed.
void OrderSearch::add_ready(State& state, int i) {
  for (const int k : then_[i]) {
    if (has(state.done, k) || std::ranges::count(state.ready, k) > 0 || !is_ready(state.done, k)) continue;
    if (waits_[k]) add_ready(state, k);
    if (!waits_[k]) state.ready.insert(std::ranges::lower_bound(state.ready, k), k);
  }
}

bool OrderSearch::is_ready(const Bits& done, int i) const {
  return std::ranges::all_of(needs_[i],
                             [&](int need) { return has(done, need) || (waits_[need] && is_ready(done, need)); });
}

/// Whether the ops between two states may run at once: they leave no more alive than there was, and no more than
/// some of them alone would, so that whoever runs those early gains nothing by leaving out the rest. That is enough:
/// what an op leaves alive falls with all that has run before it.
bool OrderSearch::is_free(const State& from, int i, const State& to) {
  std::vector<int> row;
  for (int path = to.path; path != from.path; path = paths_[path].first) row.push_back(paths_[path].second);
  std::ranges::reverse(row);
  Bits done = from.done;
  std::int64_t alive = from.alive;
  for (std::size_t n = 0; n < std::min(row.size(), kLongestRow); ++n) {
    alive = after(done, alive, row[n]).alive;
    put(done, row[n]);
    if (has(done, i) && alive <= from.alive) return leaves_least(from, {row.begin(), row.begin() + n + 1}, alive);
  }
  return false;
}

/// Whether any of the ops of a row that may run without the others leave at least as much.
bool OrderSearch::leaves_least(const State& from, const std::vector<int>& row, std::int64_t least) {
  for (unsigned some = 1; some + 1 < 1U << row.size(); ++some) {
    Bits done = from.done;
    std::int64_t alive = from.alive;
    bool may_run = true;
    for (std::size_t n = 0; may_run && n < row.size(); ++n) {
      if ((some >> n & 1) == 0) continue;
      may_run = std::ranges::all_of(needs_[row[n]], [&](int need) { return has(done, need); });
      alive = after(done, alive, row[n]).alive;
      put(done, row[n]);
    }
    if (may_run && alive < least) return false;
  }
  return true;
}

std::optional<OrderSearch::Found> OrderSearch::within(std::int64_t limit) {
  paths_.clear();
  State start{.done = Bits(ops_.size() / 64 + 1), .alive = given_};
  for (int i = 0; i < count(); ++i)
    if (!waits_[i] && is_ready(start.done, i)) start.ready.push_back(i);
  std::set<Bits> seen;
  std::vector<State> open;
  for (open.push_back(std::move(start)); !open.empty();) {
    const State state = std::move(open.back());
    open.pop_back();
    if (state.ready.empty()) return found(state.path);
    std::vector<State> tried;
    for (const int i : state.ready) {
      gave_up_ = gave_up_ || (seen.size() + open.size()) * state.done.size() * 8 > kMostBytes;
      if (gave_up_ || is_at_end()) return std::nullopt;
      std::optional<State> made = moved(state, i, limit);
      if (!made) continue;
      const bool is_taken = is_free(state, i, *made);
      if (is_taken) tried.clear();
      if (seen.count(made->done) == 0) tried.push_back(std::move(*made));
      if (is_taken) break;
    }
    for (const State& made : tried) seen.insert(made.done);
    std::ranges::stable_sort(tried, std::ranges::greater{}, &State::alive);
    std::ranges::move(tried, std::back_inserter(open));
  }
  return std::nullopt;
}

/// What ran last, and what ran before it.
OrderSearch::Found OrderSearch::found(int path) {
  std::vector<int> order;
  for (; path >= 0; path = paths_[path].first) order.push_back(paths_[path].second);
  std::ranges::reverse(order);
  Found made{.peak = peak_of(order)};
  for (const int i : order) made.ops.push_back(ops_[i]);
  return made;
}

}  // namespace lethe
