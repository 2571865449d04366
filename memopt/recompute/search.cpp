#include "memopt/recompute/search.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "memopt/recompute/best_choice.h"
#include "memopt/recompute/descent.h"

namespace lethe {
namespace {

constexpr int kMostRungs = 48, kFewestRungs = 4;
/// Steps of all rungs together that may be looked at: some seconds.
constexpr double kMostWork = 4e8;
/// Of choices for a small program, for all targets together; an eighth of what is left may go to one, and as much
/// again.
constexpr int kMostTrials = 200'000;

/// So many that a large program takes no more than some seconds: a rung takes some ten trials a value, each of which
/// walks through the program.
int rungs_for(const Tape& tape) {
  const auto moved = static_cast<double>(std::min(tape.candidates.size(), most_moved(tape)) + 1);
  const double work = 10.0 * moved * static_cast<double>(tape.ops.size() + 1);
  return static_cast<int>(std::clamp(kMostWork / work, double{kFewestRungs}, double{kMostRungs}));
}

Rung rung_of(const Descent& descent) {
  return {.choice = descent.choice(), .peak = descent.course().peak, .seconds = descent.course().seconds};
}

/// Of choices for a small program `trials` are left.
std::optional<Rung> cheapest(const Tape& tape, Descent descent, std::int64_t target, int& trials) {
  std::optional<Rung> found;
  if (descent.reach(target)) found = rung_of(descent);
  if (!is_small(tape)) return found;
  const auto look_at_all = [&] {
    BestChoice best = best_choice(tape, target, std::move(found), trials / 4);
    trials -= best.trials;
    found = std::move(best.rung);
    return best.is_best;
  };
  if (look_at_all()) return found;
  const bool refined = descent.refine(target);
  if (refined && (!found || descent.course().seconds < found->seconds)) {
    found = rung_of(descent);
    look_at_all();
  }
  return found;
}

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

}  // namespace

std::optional<Rung> cheapest_within(const Tape& tape, std::int64_t target) {
  int trials = kMostTrials;
  return cheapest(tape, Descent(tape), target, trials);
}

std::vector<Rung> ladder(const Tape& tape) {
  const Descent start(tape);
  const std::int64_t peak = start.course().peak;
  const int count = rungs_for(tape);
  std::vector<std::optional<Rung>> found(static_cast<std::size_t>(count));
  found[0] = rung_of(start);
  const auto target = [&](int i) { return peak - peak / count * i; };
  int trials = kMostTrials;
  if (!is_small(tape)) {
    in_parallel(count - 1, [&](int i) { found[i + 1] = cheapest(tape, start, target(i + 1), trials); });
  } else {  // a rung is often that of the next targets, too
    for (int i = 1, last = 0; i < count; ++i) {
      if (target(i) >= found[last]->peak) continue;
      found[i] = cheapest(tape, start, target(i), trials);
      if (!found[i]) break;
      last = i;
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
