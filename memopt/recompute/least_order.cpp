#include "memopt/recompute/least_order.h"

#include <algorithm>
#include <optional>
#include <set>

#include "framework/language/op_facts.h"

namespace lethe {
namespace {

/// How often ops are looked at, to see what running one next would take, for each op there is. Most searches of the zoo
/// end within 10 to 80; where one does not, what comes later lowers the peak by thousandths.
constexpr std::int64_t kMostLooks = 100, kMostInAll = 400'000;
/// Ops of a program that is searched, and bytes of the sets that are known.
constexpr int kMostOps = 20'000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

using Bits = std::vector<std::uint64_t>;
bool has(const Bits& bits, int i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
void put(Bits& bits, int i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }

/// Ops that run kernels, numbered as they stand. Where they read and write the same value, their order is kept.
class OrderSearch {
 public:
  explicit OrderSearch(const Tape& tape) : tape_(tape), users_(tape.values.size()) {
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
  }

  /// Ops of the tape; nothing if no order takes less than theirs.
  std::optional<std::vector<int>> run() && {
    std::optional<std::vector<int>> best;
    std::vector<int> order(ops_.size());
    for (int i = 0; i < count(); ++i) order[i] = i;
    for (std::int64_t peak = peak_of(order);; peak = peak_of(order)) {
      std::optional<std::vector<int>> lower = below(peak - 1);
      if (!lower) return best;
      order = std::move(*lower);
      best = order;
      for (int& i : *best) i = ops_[i];
    }
  }

 private:
  struct State {
    Bits done;
    std::int64_t alive = 0;  // bytes after the last op
    int path = -1;           // its last op, in paths_
    std::vector<int> ready = {};
  };
  struct Taken {
    std::int64_t peak = 0, alive = 0;  // bytes while an op runs, and after it
  };

  int count() const { return static_cast<int>(ops_.size()); }
  const TapeCall& call(int i) const { return tape_.ops[ops_[i]].call; }
  bool counts(VarId v) const { return tape_.values[v].bytes > 0 && !tape_.values[v].given; }
  bool is_born(VarId v, int i, const Bits& done) const {
    return counts(v) && std::ranges::none_of(users_[v], [&](int user) { return user != i && has(done, user); });
  }
  bool dies(VarId v, int i, const Bits& done) const {
    return counts(v) && !tape_.values[v].lasts &&
           std::ranges::all_of(users_[v], [&](int user) { return user == i || has(done, user); });
  }
  bool is_at_end() const { return looks_ > std::min(kMostLooks * count(), kMostInAll); }

  Taken after(const Bits& done, std::int64_t alive, int i) {
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
      if (!dies(in, i, done) || !is_born(out, i, done) || tape_.values[out].lasts || bytes > tape_.values[in].bytes ||
          std::ranges::count(used, in) + std::ranges::count(used, out) > 0)
        continue;
      used.insert(used.end(), {in, out});
      taken.peak -= bytes;
    }
    return taken;
  }

  std::int64_t peak_of(const std::vector<int>& order) {
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
  std::optional<State> moved(State state, int i, std::int64_t limit) {
    for (int next = i; next >= 0;) {
      const Taken taken = after(state.done, state.alive, next);
      if (taken.peak > limit || is_at_end()) return std::nullopt;
      put(state.done, next);
      state.alive = taken.alive;
      paths_.push_back({state.path, next});
      state.path = static_cast<int>(paths_.size()) - 1;
      std::erase(state.ready, next);
      for (const int k : then_[next])
        if (std::ranges::all_of(needs_[k], [&](int need) { return has(state.done, need); }))
          state.ready.insert(std::ranges::lower_bound(state.ready, k), k);
      const auto free = std::ranges::find_if(state.ready, [&](int k) {
        const Taken then = after(state.done, state.alive, k);
        return then.alive <= state.alive && then.peak <= limit;
      });
      next = free == state.ready.end() ? -1 : *free;
    }
    return state;
  }

  /// An order in which no more than `limit` is alive; nothing if none was found.
  std::optional<std::vector<int>> below(std::int64_t limit) {
    paths_.clear();
    State start{.done = Bits(ops_.size() / 64 + 1), .alive = given_};
    for (int i = 0; i < count(); ++i)
      if (needs_[i].empty()) start.ready.push_back(i);
    std::set<Bits> seen;
    std::vector<State> open;
    for (open.push_back(std::move(start)); !open.empty();) {
      const State state = std::move(open.back());
      open.pop_back();
      if (state.ready.empty()) return order_to(state.path);
      std::vector<State> tried;
      for (const int i : state.ready) {
        if (is_at_end() || (seen.size() + open.size()) * state.done.size() * 8 > kMostBytes) return std::nullopt;
        std::optional<State> made = moved(state, i, limit);
        if (!made || seen.count(made->done) > 0) continue;
        const bool is_free = made->alive <= state.alive;
        if (is_free) tried.clear();
        tried.push_back(std::move(*made));
        if (is_free) break;
      }
      for (const State& made : tried) seen.insert(made.done);
      std::ranges::stable_sort(tried, std::ranges::greater{}, &State::alive);
      std::ranges::move(tried, std::back_inserter(open));
    }
    return std::nullopt;
  }

  std::vector<int> order_to(int path) const {
    std::vector<int> order;
    for (; path >= 0; path = paths_[path].first) order.push_back(paths_[path].second);
    std::ranges::reverse(order);
    return order;
  }

  const Tape& tape_;
  std::vector<int> ops_ = {};                   // of the tape, by number
  std::vector<std::vector<int>> needs_, then_;  // by op: those that run before it, and those that wait for it
  std::vector<std::vector<int>> users_;         // by value
  std::int64_t given_ = 0, looks_ = 0;
  std::vector<std::pair<int, int>> paths_;  // an op that ran, and what ran before it
};

}  // namespace

Program least_order(const Program& program, const Tape& tape) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  if (ops.size() > kMostOps || std::ranges::any_of(ops, exchanges)) return program;
  const std::optional<std::vector<int>> order = OrderSearch(tape).run();
  if (!order) return program;
  Program made = program;
  made.blocks[0].ops.clear();
  std::vector<int> view(program.vars.size(), -1);   // by VarId: the op that is still to show it
  std::vector<int> last(program.vars.size(), -1);   // by root: the last op so far that reads or writes it
  std::vector<std::vector<int>> after(ops.size());  // by op: views that come right after it if nobody has asked before
  for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
    if (tape.ops[i].is_view) {
      for (const VarId v : ops[i].out) view[v] = i;
      if (const int maker = last[tape.root[ops[i].out[0]]]; maker >= 0) after[maker].push_back(i);
    } else {
      for (const VarId v : tape.ops[i].call.in) last[v] = i;
      for (const VarId v : tape.ops[i].call.out) last[v] = i;
    }
  }
  const auto run = [&](const auto& self, int i) -> void {
    for (const VarId v : ops[i].in)
      if (v != kNone && view[v] >= 0) self(self, std::exchange(view[v], -1));
    made.blocks[0].ops.push_back(ops[i]);
  };
  const auto show = [&](int i) {
    for (const VarId v : ops[i].out)
      if (view[v] == i) run(run, std::exchange(view[v], -1));
  };
  for (const int i : *order) {
    run(run, i);
    for (const int late : after[i]) show(late);
  }
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (tape.ops[i].is_view) show(i);
  return made;
}

}  // namespace lethe
