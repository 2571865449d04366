#include "memopt/recompute/descent.h"

#include <algorithm>

namespace lethe {
namespace {

constexpr double kFree = 1e-9;  // seconds: so that what costs nothing comes first, the largest before the others
/// Values whose repeats take a smaller share of all repeats are not looked at again.
constexpr double kWorthless = 1e-3;
/// A move is made if it is worth so much of what any other is expected to be.
constexpr double kNearly = 0.75;

constexpr RecomputePolicy kAll[] = {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerCluster,
                                    RecomputePolicy::PerUse};

/// Bytes over a target, summed over all steps.
double excess_of(const Course& course, std::int64_t target) {
  double excess = 0;
  for (const std::int64_t alive : course.alive)
    excess += static_cast<double>(std::max<std::int64_t>(alive - target, 0));
  return excess;
}

}  // namespace

bool is_small(const Tape& tape) {
  constexpr std::size_t kCandidates = 20, kOps = 1000;
  return tape.candidates.size() <= kCandidates && tape.ops.size() <= kOps;
}

std::size_t most_moved(const Tape& tape) {
  constexpr std::size_t kMostSteps = 40'000'000, kFewest = 200, kMost = 1000;
  return std::clamp(kMostSteps / (tape.ops.size() + 1), kFewest, kMost);
}

Descent::Descent(const Tape& tape) : tape_(&tape), walk_(tape, true) {
  best_ = *tried(keep_all(tape));
  find_groups();
  find_segments();
}

bool Descent::reach(std::int64_t target) {
  const bool small = is_small(*tape_);
  std::optional<Tried> found;
  for (const RecomputePolicy all : {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerUse}) {
    if (found && !small) break;
    if (all != RecomputePolicy::Keep && !let_all_go(all)) continue;
    if (!go_on(target)) continue;
    if (!found || best_.course.seconds < found->course.seconds) found = best_;
  }
  if (found) best_ = std::move(*found);
  return found.has_value();
}

bool Descent::go_on(std::int64_t target) {
  if (!descend(target)) return false;
  prune(target);
  return true;
}

bool Descent::refine(std::int64_t target) {
  if (best_.course.peak > target && !settle(target)) return false;
  prune(target);
  return settle(target);
}

std::optional<Descent::Tried> Descent::tried(Choice choice) {
  if (walk_.kept() != best_.choice && walk_.run(best_.choice)) walk_.keep();
  if (!walk_.run(choice)) return std::nullopt;
  walked_ += static_cast<double>(walk_.steps().size());
  return Tried{std::move(choice), walk_.course()};
}

std::optional<Descent::Tried> Descent::with(const Move& move) {
  Choice choice = best_.choice;
  bool any = false;
  for (const VarId v : move.values)
    if (choice[v] < move.to) choice[v] = move.to, any = true;
  return any ? tried(std::move(choice)) : std::nullopt;
}

/// Neighbours, those whose op could work in place apart from the others: they cost far less.
void Descent::find_groups() {
  const std::size_t groups = most_moved(*tape_), most = (tape_->candidates.size() + groups - 1) / groups;
  struct Open {
    std::vector<VarId> values = {};
    std::size_t candidates = 0;
  } open[2];
  for (const std::vector<VarId>& alike : tape_->candidates) {
    Open& group = open[tape_->ops[tape_->values[alike.front()].maker].call.in_place.empty() ? 0 : 1];
    group.values.insert(group.values.end(), alike.begin(), alike.end());
    if (++group.candidates < most) continue;
    groups_.push_back(std::move(group.values));
    group = {};
  }
  for (Open& group : open)
    if (!group.values.empty()) groups_.push_back(std::move(group.values));
}

/// Runs of values between two places of the forward ops that a single value crosses; in all parts as in the first.
void Descent::find_segments() {
  std::vector<int> ends;  // the ops whose candidate output alone is alive after them
  const int turn = tape_->parts.front().turn;
  std::vector<int> crossing(turn + 1, 0), last(tape_->values.size(), -1);
  for (int i = 0; i < turn; ++i)
    for (const VarId v : tape_->ops[i].call.in) last[v] = i;
  const auto maker_of = [&](const std::vector<VarId>& alike) { return tape_->values[alike.front()].maker; };
  for (const std::vector<VarId>& alike : tape_->candidates) {
    const VarId v = alike.front();
    const int maker = maker_of(alike);
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
      for (const std::vector<VarId>& alike : tape_->candidates) {
        const int maker = maker_of(alike);
        if (maker < turn && cut[maker] >= first && cut[maker] < first + length && maker != ends[first + length - 1] &&
            tape_->values[alike.front()].read_by_backward)
          move.values.insert(move.values.end(), alike.begin(), alike.end());
      }
      if (move.values.size() > 1) segments_.push_back(std::move(move));
    }
}

/// To let values go; with `deeper` also to make them again more often.
std::vector<Descent::Move> Descent::moves(bool deeper) const {
  std::vector<Move> all;
  for (const std::vector<VarId>& group : groups_) {
    RecomputePolicy now = RecomputePolicy::PerUse;
    for (const VarId v : group) now = std::min(now, best_.choice[v]);
    if (now < RecomputePolicy::Once) all.push_back({group, RecomputePolicy::Once});
    if (deeper && now < RecomputePolicy::PerCluster) all.push_back({group, RecomputePolicy::PerCluster});
    if (deeper && now < RecomputePolicy::PerUse) all.push_back({group, RecomputePolicy::PerUse});
  }
  all.insert(all.end(), segments_.begin(), segments_.end());
  return all;
}

/// By value: its bytes in each step that is over the target.
std::vector<double> Descent::over(std::int64_t target) const {
  std::vector<int> steps(best_.course.alive.size() + 1);
  for (std::size_t s = 0; s < best_.course.alive.size(); ++s)
    steps[s + 1] = steps[s] + (best_.course.alive[s] > target ? 1 : 0);
  std::vector<double> bytes(tape_->values.size());
  for (const Instance& i : best_.course.instances)
    bytes[i.value] += static_cast<double>(tape_->values[i.value].bytes) * (steps[i.last + 1] - steps[i.born]);
  return bytes;
}

/// What a move would be worth if its values were gone altogether and each were made again once.
double Descent::promise(const Move& move, const std::vector<double>& over) const {
  double bytes = 0, seconds = kFree;
  for (const VarId v : move.values) {
    if (best_.choice[v] >= move.to) continue;
    bytes += over[v];
    seconds += tape_->ops[tape_->values[v].maker].call.seconds;
  }
  return bytes / seconds;
}

bool Descent::descend(std::int64_t target, double most) {
  while (best_.course.peak > target) {
    const double before = excess_of(best_.course, target);
    make_moves(target, moves(false), most);
    if (best_.course.peak > target && best_.course.seconds <= most) make_moves(target, moves(true), most);
    if (best_.course.seconds > most || excess_of(best_.course, target) >= before) return false;
  }
  return true;
}

/// One after the other until the target is reached, each time that which takes most bytes off for its cost. What a move
/// is worth is found out when it seems to be the best; until it seems so again, it is taken to change as its promise
/// does.
void Descent::make_moves(std::int64_t target, const std::vector<Move>& all, double most) {
  double excess = excess_of(best_.course, target);
  std::vector<double> held = over(target), expected(all.size());
  std::vector<double> share(all.size(), 1);  // of its promise that a move was worth
  std::vector<bool> is_known(all.size());    // what it is worth now
  const auto expect = [&] {
    for (std::size_t m = 0; m < all.size(); ++m) expected[m] = share[m] * promise(all[m], held);
    std::fill(is_known.begin(), is_known.end(), false);
  };
  expect();
  while (best_.course.peak > target && best_.course.seconds <= most) {
    const auto best = std::max_element(expected.begin(), expected.end());
    if (best == expected.end() || *best <= 0) return;
    const auto m = static_cast<std::size_t>(best - expected.begin());
    std::optional<Tried> result = with(all[m]);
    const double left = result ? excess_of(result->course, target) : excess;
    const double more = result ? std::max(result->course.seconds - best_.course.seconds, 0.0) : 0;
    const double worth = std::max((excess - left) / (more + kFree), 0.0);
    share[m] *= worth / *best;
    *best = 0;
    if (worth == 0) continue;
    const double other = *std::max_element(expected.begin(), expected.end());
    *best = worth;
    if (!is_known[m] && worth < kNearly * other) {
      is_known[m] = true;
      continue;
    }
    best_ = std::move(*result);
    excess = left;
    held = over(target);
    expect();
  }
}

bool Descent::let_all_go(RecomputePolicy to) {
  Choice choice = keep_all(*tape_);
  for (const std::vector<VarId>& alike : tape_->candidates)
    for (const VarId v : alike) choice[v] = std::max(choice[v], to);
  std::optional<Tried> all = tried(std::move(choice));
  if (all) best_ = std::move(*all);
  return all.has_value();
}

/// Changes values, alone and by twos, as long as that takes bytes off, or else seconds.
bool Descent::settle(std::int64_t target) {
  double excess = excess_of(best_.course, target);
  const auto take = [&](const std::vector<std::pair<std::size_t, RecomputePolicy>>& changes) {
    Choice choice = best_.choice;
    for (const auto& [candidate, to] : changes)
      for (const VarId v : tape_->candidates[candidate]) choice[v] = to;
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
    for (std::size_t i = 0; i < tape_->candidates.size(); ++i)
      for (const RecomputePolicy to : kAll) better = take({{i, to}}) || better;
    for (std::size_t i = 0; i < tape_->candidates.size() && !better; ++i)
      for (std::size_t j = 0; j < i; ++j)
        for (const RecomputePolicy first : kAll)
          for (const RecomputePolicy second : kAll) better = take({{i, first}, {j, second}}) || better;
  }
  return best_.course.peak <= target;
}

double Descent::cost(const std::vector<VarId>& values) const {
  double seconds = 0;
  for (const VarId v : values) seconds += tape_->ops[tape_->values[v].maker].call.seconds;
  return seconds;
}

void Descent::prune(std::int64_t target) {
  std::vector<int> made(tape_->values.size());
  for (const Instance& instance : best_.course.instances) ++made[instance.value];
  std::vector<const std::vector<VarId>*> let_go;
  for (const std::vector<VarId>& group : groups_)
    if (std::any_of(group.begin(), group.end(), [&](VarId v) { return made[v] > 1; })) let_go.push_back(&group);
  std::stable_sort(let_go.begin(), let_go.end(), [&](const auto* a, const auto* b) { return cost(*a) > cost(*b); });
  for (const std::vector<VarId>* group : let_go) {
    if (cost(*group) < kWorthless * best_.course.seconds) break;
    for (const RecomputePolicy to : {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerCluster}) {
      Choice choice = best_.choice;
      for (const VarId v : *group) choice[v] = std::min(choice[v], to);
      if (choice == best_.choice) break;
      std::optional<Tried> kept = tried(std::move(choice));
      if (!kept || kept->course.peak > target || kept->course.seconds >= best_.course.seconds) continue;
      best_ = std::move(*kept);
      break;
    }
  }
}

}  // namespace lethe
