#include "memopt/recompute/search.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>

#include "memopt/recompute/annealing.h"
#include "memopt/recompute/best_choice.h"
#include "memopt/recompute/descent.h"
#include "memopt/recompute/nearly_free.h"
#include "memopt/recompute/segments.h"

namespace lethe {
namespace {

constexpr int kMostRungs = 48, kFewestRungs = 4;
/// Steps of all rungs together that may be looked at: some seconds.
constexpr double kMostWork = 4e8;
/// A rung that costs more of a step is looked for once more, by annealing.
constexpr double kDear = 0.08;
/// Steps of all annealings if each target is tried once; tries that look for less than a forward pass may take as many
/// again, and kTries of the last target come on top. One try takes at first no more than so many walks through the
/// program for each of its values.
constexpr double kMostAnnealed = 1e7, kMostChanges = 40;
/// How often a target is tried as long as no rung for a forward pass is found, with twice the work each time.
constexpr int kTries = 4;
/// How often the way to the first target for which a forward pass is not enough is halved.
constexpr int kHalves = 3;
/// Steps that going through all choices of a small program may take: less than a second.
constexpr double kMostTried = 1e6;

/// So many that a large program takes no more than some seconds: a rung takes some ten trials a value, each of which
/// walks through the program.
int rungs_for(const Tape& tape) {
  const auto moved = static_cast<double>(std::min(tape.candidates.size(), most_moved(tape)) + 1);
  const double work = 10.0 * moved * static_cast<double>(tape.ops.size() + 1);
  return static_cast<int>(std::clamp(kMostWork / work, double{kFewestRungs}, double{kMostRungs}));
}

/// Goes through all choices with a quarter of the trials that are `left`, and once more if that was too few and
/// changing some values found a cheaper one to begin with. Lowers `left` by what it used.
std::optional<Rung> cheapest_of_small(const Tape& tape, Descent descent, std::int64_t target, int& left) {
  std::optional<Rung> found;
  if (descent.reach(target)) found = descent.rung();
  const auto try_all = [&] {
    BestChoice best = best_choice(tape, target, std::move(found), left / 4);
    left -= best.trials;
    found = std::move(best.rung);
    return best.is_best;
  };
  if (try_all()) return found;
  if (found) descent.begin_with(found->choice);
  if (!descent.refine(target) || (found && descent.course().seconds >= found->seconds)) return found;
  found = descent.rung();
  try_all();
  return found;
}

/// How many choices of a small program are tried, for all targets together.
int trials_for(const Tape& tape) { return static_cast<int>(kMostTried / (static_cast<double>(tape.ops.size()) + 1)); }

/// Does f(0) to f(count - 1), on as many threads as there are processors, or as can be had. Fails as f does.
template <class F>
void in_parallel(int count, const F& f) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (int i = next++; i < count; i = next++) f(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      const int threads = std::min(count, static_cast<int>(std::thread::hardware_concurrency()));
      for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // then with fewer
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Adds rungs where those of greedy moves are dear, for targets as close as those of a small program, down to the first
/// for which none is found. Of two annealings for a target one begins with the rung above, the other with the first of
/// greedy moves within the target if that costs no more than a forward pass. One of these that costs more is a target,
/// too, and is begun with where the rung above leads to none. Where a forward pass stops being enough, rungs between
/// the last for which it is and the target are looked for by halves. `rungs`: from the one that costs nothing on, each
/// peaks lower than the one before.
void anneal(const Tape& tape, std::vector<Rung>& rungs) {
  const auto is_fair = [&](const Rung& rung) { return rung.seconds <= tape.forward_seconds; };
  const auto is_dear = [&](const Rung& rung) { return overhead_of(tape, rung) > kDear; };
  const std::vector<Rung> dear(std::find_if(rungs.begin() + 1, rungs.end(), is_dear), rungs.end());
  Rung above = rungs[rungs.size() - dear.size() - 1];
  const std::int64_t least = least_peak(tape), step = std::max<std::int64_t>(rungs.front().peak / kMostRungs, 1);
  const auto targets = static_cast<double>(std::max<std::int64_t>((above.peak - least) / step, 1));
  const auto walk = static_cast<double>(tape.candidates.size() * tape.ops.size());
  double left = 2 * kMostAnnealed;
  std::uint64_t seed = 0;
  const auto cheapest = [&](std::int64_t target) {
    const auto own = std::ranges::find_if(dear, [&](const Rung& rung) { return rung.peak <= target; });
    const bool is_there = own != dear.end();
    std::optional<Rung> best;
    double most = std::min(kMostAnnealed / (2 * targets), kMostChanges * walk);
    const auto is_open = [&] { return !best || (!is_fair(*best) && left > 0); };
    for (int tries = 0; tries < kTries && is_open(); ++tries, most *= 2) {
      left -= 2 * most;
      const Rung other = best ? *best : is_there && (is_fair(*own) || tries > 0) ? *own : above;
      std::optional<Rung> made[2];
      in_parallel(2, [&](int n) { made[n] = annealed(tape, n == 0 ? above : other, target, most, seed + n); });
      seed += 2;
      for (std::optional<Rung>& rung : made)
        if (rung && (!best || rung->seconds < best->seconds)) best = std::move(rung);
    }
    return best;
  };
  for (;;) {
    const auto next =
        std::ranges::find_if(dear, [&](const Rung& rung) { return rung.peak < above.peak && !is_fair(rung); });
    const std::int64_t target = std::max(above.peak - step, next != dear.end() ? next->peak : 0);
    if (target < least) return;
    const std::optional<Rung> best = cheapest(target);
    if (is_fair(above) && !(best && is_fair(*best)))
      for (std::int64_t low = target, n = 0; n < kHalves; ++n) {
        const std::int64_t middle = low + (above.peak - low) / 2;
        const std::optional<Rung> between = cheapest(middle);
        if (between && is_fair(*between))
          rungs.push_back(above = *between);
        else
          low = middle;
      }
    if (!best) return;
    rungs.push_back(above = *best);
  }
}

bool is_cheaper(const Rung& a, const Rung& b) {
  return a.seconds != b.seconds ? a.seconds < b.seconds : a.peak < b.peak;
}

/// From the cheapest on; each peaks lower than the one before.
std::vector<Rung> best_of(std::vector<Rung> rungs) {
  std::stable_sort(rungs.begin(), rungs.end(), is_cheaper);
  std::vector<Rung> best;
  for (Rung& rung : rungs)
    if (best.empty() || rung.peak < best.back().peak) best.push_back(std::move(rung));
  return best;
}

/// All of both from the cheapest on, of those that cost the same the one that peaks lowest.
std::vector<Rung> both(const std::vector<Rung>& a, const std::vector<Rung>& b) {
  std::vector<Rung> all;
  std::ranges::merge(a, b, std::back_inserter(all), is_cheaper);
  const auto same = std::ranges::unique(all, {}, &Rung::seconds);
  all.erase(same.begin(), same.end());
  return all;
}

/// The lowest that costs no more than a forward pass; null: there is none.
const Rung* lowest_fair(const Tape& tape, const std::vector<Rung>& rungs) {
  const Rung* lowest = nullptr;
  for (const Rung& rung : rungs)
    if (rung.seconds <= tape.forward_seconds && (!lowest || rung.peak < lowest->peak)) lowest = &rung;
  return lowest;
}

/// Rungs lower than a start, each found from the one before: it is nearer to them than all that is kept. The first that
/// costs more than a forward pass is the last; there are no more than twice as many as greedy moves were tried for.
std::vector<Rung> lower_ones(const Tape& tape, Descent descent, Rung start) {
  std::vector<Rung> lower;
  const std::int64_t least = least_peak(tape);
  int left = 2 * rungs_for(tape);
  for (const double step : {0.07, 0.03, 0.01}) {  // of the peak; less where that is too much
    descent.begin_with(start.choice);
    while (start.seconds <= tape.forward_seconds && left-- > 0) {
      const auto target = static_cast<std::int64_t>((1 - step) * static_cast<double>(start.peak));
      if (target < least || !descent.go_on(target)) break;
      lower.push_back(start = descent.rung());
    }
  }
  return lower;
}

/// Adds what segments give below greedy moves, and what lies below the lowest of either; keeps the best.
void go_lower(const Tape& tape, const Descent& start, std::vector<Rung>& rungs) {
  const Rung lowest = *lowest_fair(tape, rungs);
  std::vector<Rung> segments = segmented(tape);
  const std::int64_t least = segments.empty() ? 0 : segments.back().peak;
  std::erase_if(segments, [&](const Rung& rung) { return rung.peak >= lowest.peak && rung.peak > least; });
  in_parallel(static_cast<int>(segments.size()), [&](int n) {
    Descent descent = start;
    descent.begin_with(std::move(segments[n].choice));
    descent.prune(segments[n].peak);
    segments[n] = descent.rung();
  });
  std::vector<Rung> starts = {lowest};
  if (const Rung* const other = lowest_fair(tape, segments)) starts.push_back(*other);
  std::vector<std::vector<Rung>> found(starts.size());
  in_parallel(static_cast<int>(starts.size()), [&](int n) { found[n] = lower_ones(tape, start, starts[n]); });
  found.push_back(std::move(segments));
  for (std::vector<Rung>& more : found) std::ranges::move(more, std::back_inserter(rungs));
  rungs = best_of(std::move(rungs));
}

}  // namespace

std::optional<Rung> cheapest_within(const Tape& tape, std::int64_t target) {
  Descent descent(tape);
  if (!is_small(tape)) return descent.reach(target) ? std::optional(descent.rung()) : std::nullopt;
  int left = trials_for(tape);
  return cheapest_of_small(tape, std::move(descent), target, left);
}

std::vector<Rung> ladder(const Tape& tape) {
  const Descent start(tape);
  if (tape.parts.front().turn == static_cast<int>(tape.ops.size())) return {start.rung()};  // there is no backward
  const std::int64_t peak = start.course().peak, least = least_peak(tape);
  const int all = rungs_for(tape);
  const auto target = [&](int i) { return peak - peak / all * i; };
  int count = 1;
  while (count < all && target(count) >= least) ++count;
  std::vector<std::optional<Rung>> found(static_cast<std::size_t>(count));
  found[0] = start.rung();
  if (!is_small(tape)) {
    in_parallel(count - 1, [&](int i) {
      Descent descent = start;
      if (descent.reach(target(i + 1))) found[i + 1] = descent.rung();
    });
  } else {  // a rung is often that of the next targets, too
    for (int i = 1, last = 0, left = trials_for(tape); i < count; ++i) {
      if (target(i) >= found[last]->peak) continue;
      found[i] = cheapest_of_small(tape, start, target(i), left);
      if (!found[i]) break;
      last = i;
    }
  }
  std::vector<Rung> rungs;
  for (std::optional<Rung>& rung : found)
    if (rung) rungs.push_back(std::move(*rung));
  if (!is_small(tape) && all > kFewestRungs) go_lower(tape, start, rungs);
  std::vector<Rung> all_rungs = rungs;
  if (!is_small(tape)) anneal(tape, all_rungs);
  if (std::optional<Rung> free = nearly_free(tape)) {
    rungs.push_back(*free);
    all_rungs.push_back(std::move(*free));
  }
  return both(best_of(std::move(all_rungs)), best_of(std::move(rungs)));
}

}  // namespace lethe
