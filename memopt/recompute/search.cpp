#include "memopt/recompute/search.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <thread>
#include <tuple>

namespace lethe {
namespace {

constexpr int kMostRungs = 48, kFewestRungs = 12;
/// Steps of all rungs together that may be looked at: some seconds.
constexpr double kMostWork = 4e8;
constexpr double kFree = 1e-9;  // seconds: so that what costs nothing comes first, the largest before the others

/// Programs of no more candidates are searched more thoroughly.
constexpr std::size_t kSmall = 12;

/// A value whose repeat takes a smaller share of all repeats is not looked at again.
constexpr double kWorthless = 1e-3;

constexpr Keep kAll[] = {Keep::Kept, Keep::Again, Keep::Brief, Keep::Each};

/// A move is made if it is worth so much of what the next in the queue was worth before.
constexpr double kNearly = 0.75;

/// Values that change together.
struct Move {
  std::vector<VarId> values;
  Keep to = Keep::Again;
};

/// Bytes over a target, summed over all steps.
double excess_of(const Course& course, std::int64_t target) {
  double excess = 0;
  for (const std::int64_t alive : course.alive)
    excess += static_cast<double>(std::max<std::int64_t>(alive - target, 0));
  return excess;
}

/// A choice with what it comes to.
struct Tried {
  Choice choice;
  Course course;
};

class Descent {
 public:
  Descent(const Tape& tape, Choice start) : tape_(tape) {
    best_ = *tried(std::move(start));
    find_segments();
  }

  /// Lets go of values until the peak is no higher, then keeps again what the target allows; false if it cannot. Begins
  /// anew with other choices where the first is a dead end; in small programs always, and changes what it found.
  bool reach(std::int64_t target) {
    const bool small = tape_.candidates.size() <= kSmall;
    std::optional<Tried> found;
    for (const Keep all : {Keep::Kept, Keep::Again, Keep::Each}) {
      if (found && !small) break;
      if (all != Keep::Kept && !let_all_go(all)) continue;
      if (!descend(target) && !(small && settle(target))) continue;
      prune(target);
      if (small) change(target), settle(target);
      if (!found || best_.course.seconds < found->course.seconds) found = best_;
    }
    if (found) best_ = std::move(*found);
    return found.has_value();
  }

  Rung rung() const { return {best_.choice, best_.course.peak, best_.course.seconds}; }
  std::int64_t peak() const { return best_.course.peak; }

 private:
  std::optional<Tried> tried(Choice choice) const {
    const auto steps = steps_of(tape_, choice);
    if (!steps) return std::nullopt;
    Course course = course_of(tape_, *steps);
    return Tried{std::move(choice), std::move(course)};
  }

  std::optional<Tried> with(const Move& move) const {
    Choice choice = best_.choice;
    bool any = false;
    for (const VarId v : move.values)
      if (choice[v] < move.to) choice[v] = move.to, any = true;
    return any ? tried(std::move(choice)) : std::nullopt;
  }

  /// Runs of values between two places of the forward part that a single value crosses.
  void find_segments() {
    std::vector<int> ends;  // the ops whose candidate output alone is alive behind them
    const int turn = tape_.turn;
    std::vector<int> crossing(turn + 1, 0), last(tape_.values.size(), -1);
    for (int i = 0; i < turn; ++i)
      for (const VarId v : tape_.ops[i].call.in) last[v] = i;
    for (const VarId v : tape_.candidates) {
      const int maker = tape_.values[v].maker;
      for (int i = maker; i < std::max(last[v], maker + 1) && i < turn; ++i) ++crossing[i];
    }
    for (int i = 0; i < turn; ++i)
      if (crossing[i] == 1) ends.push_back(i);
    std::vector<int> cut(turn, 0);  // by op: the number of the last end before it
    for (int i = 0, n = 0; i < turn; ++i) {
      cut[i] = n;
      if (n < static_cast<int>(ends.size()) && ends[n] == i) ++n;
    }
    const int count = static_cast<int>(ends.size());
    for (int length = 2; length <= count; length *= 2)
      for (int first = 0; first + length <= count; first += length / 2) {
        Move move;
        for (const VarId v : tape_.candidates) {
          const int maker = tape_.values[v].maker;
          if (cut[maker] >= first && cut[maker] < first + length && maker != ends[first + length - 1] &&
              tape_.values[v].read_by_backward)
            move.values.push_back(v);
        }
        if (move.values.size() > 1) segments_.push_back(std::move(move));
      }
  }

  /// To let values go; with `deeper` also to make them again more often.
  std::vector<Move> moves(bool deeper) const {
    std::vector<Move> all;
    for (const VarId v : tape_.candidates) {
      if (v == fixed_) continue;
      if (best_.choice[v] < Keep::Again) all.push_back({{v}, Keep::Again});
      if (deeper && best_.choice[v] < Keep::Brief) all.push_back({{v}, Keep::Brief});
      if (deeper && best_.choice[v] < Keep::Each) all.push_back({{v}, Keep::Each});
    }
    if (fixed_ == kNone) all.insert(all.end(), segments_.begin(), segments_.end());
    return all;
  }

  /// By value: its bytes in each step that is over the target.
  std::vector<double> over(std::int64_t target) const {
    std::vector<int> steps(best_.course.alive.size() + 1);
    for (std::size_t s = 0; s < best_.course.alive.size(); ++s)
      steps[s + 1] = steps[s] + (best_.course.alive[s] > target ? 1 : 0);
    std::vector<double> bytes(tape_.values.size());
    for (const Instance& i : best_.course.instances)
      bytes[i.value] += static_cast<double>(tape_.values[i.value].bytes) * (steps[i.last + 1] - steps[i.born]);
    return bytes;
  }

  /// What a move would be worth if its values were gone altogether and each were made again once.
  double promise(const Move& move, const std::vector<double>& over) const {
    double bytes = 0, seconds = kFree;
    for (const VarId v : move.values) {
      if (best_.choice[v] >= move.to) continue;
      bytes += over[v];
      seconds += tape_.ops[tape_.values[v].maker].call.seconds;
    }
    return bytes / seconds;
  }

  bool descend(std::int64_t target) {
    while (best_.course.peak > target) {
      const double before = excess_of(best_.course, target);
      make_moves(target, moves(false));
      if (best_.course.peak > target) make_moves(target, moves(true));
      if (excess_of(best_.course, target) >= before) return false;
    }
    return true;
  }

  /// One after the other until the target is reached, each time that which takes most bytes off for its cost. What a
  /// move is worth is found out when it comes to the top of the queue, and again when it comes there after others were
  /// made.
  void make_moves(std::int64_t target, const std::vector<Move>& all) {
    using Entry = std::tuple<double, int, int>;  // worth, -number, as of how many moves
    std::priority_queue<Entry> queue;
    const std::vector<double> held = over(target);
    for (std::size_t m = 0; m < all.size(); ++m)
      if (const double worth = promise(all[m], held); worth > 0) queue.emplace(worth, -static_cast<int>(m), -1);
    double excess = excess_of(best_.course, target);
    for (int made = 0; best_.course.peak > target;) {
      if (queue.empty()) return;
      const auto [worth, number, as_of] = queue.top();
      queue.pop();
      std::optional<Tried> result = with(all[-number]);

      if (!result) continue;
      const double left = excess_of(result->course, target);
      const double more = std::max(result->course.seconds - best_.course.seconds, 0.0) + kFree;
      const double now = (excess - left) / more;
      if (now <= 0) continue;
      if (as_of != made && !queue.empty() && now < kNearly * std::get<0>(queue.top())) {
        queue.emplace(now, number, made);
        continue;
      }
      best_ = std::move(*result);
      excess = left;
      ++made;
    }
  }

  bool let_all_go(Keep to) {
    Choice choice = keep_all(tape_);
    for (const VarId v : tape_.candidates) choice[v] = std::max(choice[v], to);
    std::optional<Tried> all = tried(std::move(choice));
    if (all) best_ = std::move(*all);
    return all.has_value();
  }

  /// Changes values, alone and by twos, as long as that takes bytes off, or else seconds.
  bool settle(std::int64_t target) {
    double excess = excess_of(best_.course, target);
    const auto take = [&](const std::vector<std::pair<VarId, Keep>>& changes) {
      Choice choice = best_.choice;
      for (const auto& [v, to] : changes) choice[v] = to;
      if (choice == best_.choice) return false;
      std::optional<Tried> changed = tried(std::move(choice));
      if (!changed) return false;
      const double now = excess_of(changed->course, target);
      if (std::pair(now, changed->course.seconds) >= std::pair(excess, best_.course.seconds)) return false;
      best_ = std::move(*changed);
      excess = now;
      return true;
    };
    for (bool better = true; better;) {
      better = false;
      for (const VarId v : tape_.candidates)
        for (const Keep to : kAll) better = take({{v, to}}) || better;
      for (std::size_t i = 0; i < tape_.candidates.size() && !better; ++i)
        for (std::size_t j = 0; j < i; ++j)
          for (const Keep first : kAll)
            for (const Keep second : kAll)
              better = take({{tape_.candidates[i], first}, {tape_.candidates[j], second}}) || better;
    }
    return best_.course.peak <= target;
  }

  /// Keeps one value after the other whatever that takes, lets others go for it, and stays with what is cheaper.
  void change(std::int64_t target) {
    for (bool better = true; better;) {
      better = false;
      for (const VarId v : tape_.candidates)
        for (const Keep to : kAll) {
          const Tried before = best_;
          Choice choice = before.choice;
          if (choice[v] == to) continue;
          choice[v] = to;
          std::optional<Tried> changed = tried(std::move(choice));
          if (!changed) continue;
          best_ = std::move(*changed);
          fixed_ = v;
          const bool reached = descend(target);
          fixed_ = kNone;
          if (reached) prune(target);
          if (reached && best_.course.seconds < before.course.seconds)
            better = true;
          else
            best_ = before;
        }
    }
  }

  /// The costliest first.
  void prune(std::int64_t target) {
    std::vector<VarId> let_go;
    for (const VarId v : tape_.candidates)
      if (best_.choice[v] != Keep::Kept) let_go.push_back(v);
    const auto cost = [&](VarId v) { return tape_.ops[tape_.values[v].maker].call.seconds; };
    std::stable_sort(let_go.begin(), let_go.end(), [&](VarId a, VarId b) { return cost(a) > cost(b); });
    for (const VarId v : let_go) {
      if (cost(v) < kWorthless * best_.course.seconds) break;
      for (const Keep to : {Keep::Kept, Keep::Again, Keep::Brief}) {
        if (best_.choice[v] == to) break;
        Choice choice = best_.choice;
        choice[v] = to;
        std::optional<Tried> kept = tried(std::move(choice));
        if (!kept || kept->course.peak > target || kept->course.seconds >= best_.course.seconds) continue;
        best_ = std::move(*kept);
        break;
      }
    }
  }

  const Tape& tape_;
  Tried best_;
  std::vector<Move> segments_;
  VarId fixed_ = kNone;  // stays as it is
};

/// So many that a large program takes no more than some seconds: a rung takes some ten trials a value, each of which
/// walks through the program.
int rungs_for(const Tape& tape) {
  const double work = 10.0 * static_cast<double>(tape.candidates.size() + 1) * static_cast<double>(tape.ops.size() + 1);
  return static_cast<int>(std::clamp(kMostWork / work, double{kFewestRungs}, double{kMostRungs}));
}

/// Does f(0) to f(count - 1), on as many threads as there are processors.
template <class F>
void in_parallel(int count, const F& f) {
  std::atomic<int> next = 0;
  const auto work = [&] {
    for (int i = next++; i < count; i = next++) f(i);
  };
  const int threads = std::min(count, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
}

}  // namespace

std::optional<Rung> cheapest_within(const Tape& tape, std::int64_t target) {
  Descent descent(tape, keep_all(tape));
  return descent.reach(target) ? std::optional(descent.rung()) : std::nullopt;
}

std::vector<Rung> ladder(const Tape& tape) {
  const Descent start(tape, keep_all(tape));
  const std::int64_t peak = start.peak();
  const int count = rungs_for(tape);
  std::vector<std::optional<Rung>> found(static_cast<std::size_t>(count));
  found[0] = start.rung();
  const auto find = [&](int i) {
    Descent descent = start;
    if (descent.reach(peak - peak / count * i)) found[i] = descent.rung();
  };
  if (tape.candidates.size() > kSmall) {
    in_parallel(count - 1, [&](int i) { find(i + 1); });
  } else {  // a rung is often that of the next targets, too
    std::int64_t lowest = peak;
    for (int i = 1; i < count; ++i) {
      if (peak - peak / count * i >= lowest) continue;
      find(i);
      if (!found[i]) break;
      lowest = found[i]->peak;
    }
  }
  std::vector<Rung> rungs, best;
  for (std::optional<Rung>& rung : found)
    if (rung) rungs.push_back(std::move(*rung));
  std::stable_sort(rungs.begin(), rungs.end(), [](const Rung& a, const Rung& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.peak < b.peak;
  });
  for (Rung& rung : rungs)
    if (best.empty() || rung.peak < best.back().peak) best.push_back(std::move(rung));
  return best;
}

}  // namespace lethe
