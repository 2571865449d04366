#include "memopt/recompute/annealing.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/random.h"
#include "memopt/recompute/walk.h"

namespace lethe {
namespace {

/// By how much a change may cost more at first, as a share of a step. It falls to nothing.
constexpr double kWarm = 0.006;
/// What bytes over the target cost at first and at last: so many steps for as many as the target has at the peak, or
/// for a `kMean`th of that on average.
constexpr double kFirstPrice = 5, kLastPrice = 50, kMean = 4;
/// Runs of values that change together have 2 to 33; short ones are more likely.
constexpr int kDoublings = 5;

class Annealing {
 public:
  Annealing(const Tape& tape, const Rung& start, std::int64_t target, std::uint64_t seed)
      : tape_(tape),
        target_(target),
        random_(seed),
        walk_(tape, true),
        choice_(start.choice),
        candidate_(tape.values.size(), -1) {
    for (int i = 0; i < count(); ++i)
      for (const VarId v : tape.candidates[i]) candidate_[v] = i;
    check(walk_.run(choice_), "annealing: the choice to begin with cannot be run");
    walk_.keep();
    course_ = walk_.course();
    over_ = over(course_);
    note();
  }

  std::optional<Rung> run(double most) && {
    for (double done = 0; done < most;) {
      Choice before = choice_;
      change();
      const bool is_possible = choice_ != before && walk_.run(choice_);
      done += static_cast<double>(is_possible ? walk_.steps().size() : tape_.candidates.size());
      if (!is_possible || !take(walk_.course(), std::min(done / most, 1.0))) choice_ = std::move(before);
    }
    return std::move(best_);
  }

 private:
  /// Bytes over the target, at the peak and on average, as shares of it.
  double over(const Course& course) const {
    double all = 0;
    for (const std::int64_t alive : course.alive)
      all += static_cast<double>(std::max<std::int64_t>(alive - target_, 0));
    const auto peak = static_cast<double>(std::max<std::int64_t>(course.peak - target_, 0));
    return (peak + kMean * all / static_cast<double>(course.alive.size())) / static_cast<double>(target_);
  }

  /// Whether the choice as it has been changed is the one to go on with; `done`: the share of the work.
  bool take(const Course& course, double done) {
    const double now = over(course), price = kFirstPrice + (kLastPrice - kFirstPrice) * done;
    const double more = (course.seconds - course_.seconds) / std::max(tape_.seconds, 1e-9) + price * (now - over_);
    if (more > kWarm * (1 - done) * random_.uniform()) return false;
    over_ = now;
    course_ = course;
    walk_.keep();
    note();
    return true;
  }

  void note() {
    if (course_.peak <= target_ && (!best_ || course_.seconds < best_->seconds))
      best_ = {.choice = choice_, .peak = course_.peak, .seconds = course_.seconds};
  }

  /// One value, two that exchange what is done with them, a run of values, or one that does as another run: networks
  /// repeat their blocks.
  void change() {
    const int a = place(), b = below(2) == 0 ? place() : below(count()), length = 2 + below(2 << below(kDoublings));
    const int first = std::max(a - below(length), 0), end = std::min(first + length, count());
    const RecomputePolicy to = any(), of_a = policy(a);
    switch (below(10)) {
      case 0:
        for (int i = first; i < end; ++i) set(i, to);
        return;
      case 1:
      case 2:
        for (int i = first; i < std::min(end, count() + first - b); ++i) set(i, policy(b + i - first));
        return;
      case 3:
      case 4:
      case 5:
        set(a, policy(b));
        return set(b, of_a);
      default:
        return set(a, to);
    }
  }

  /// Any candidate, or one that is alive at the peak, as likely as it has bytes.
  int place() {
    int found = below(count());
    if (below(2) == 0) return found;
    const std::vector<std::int64_t>& alive = course_.alive;
    const auto peak = static_cast<int>(std::max_element(alive.begin(), alive.end()) - alive.begin());
    double total = 0;
    for (const Instance& i : course_.instances) {
      if (candidate_[i.value] < 0 || i.born > peak || i.last < peak) continue;
      const auto bytes = static_cast<double>(tape_.values[i.value].bytes);
      total += bytes;
      if (random_.uniform() * total < bytes) found = candidate_[i.value];
    }
    return found;
  }

  int count() const { return static_cast<int>(tape_.candidates.size()); }
  int below(int bound) { return static_cast<int>(random_.below(static_cast<std::uint32_t>(bound))); }
  /// Mostly the cheap ones.
  RecomputePolicy any() {
    constexpr RecomputePolicy kOften[] = {RecomputePolicy::Keep,       RecomputePolicy::Once,  RecomputePolicy::Keep,
                                          RecomputePolicy::Once,       RecomputePolicy::Keep,  RecomputePolicy::Once,
                                          RecomputePolicy::PerCluster, RecomputePolicy::PerUse};
    return kOften[below(8)];
  }
  RecomputePolicy policy(int i) const { return choice_[tape_.candidates[i].front()]; }
  void set(int i, RecomputePolicy to) {
    for (const VarId v : tape_.candidates[i]) choice_[v] = to;
  }

  const Tape& tape_;
  const std::int64_t target_;
  Random random_;
  Walk walk_;
  Choice choice_;
  std::vector<int> candidate_;  // by value; -1: it is none
  Course course_;
  double over_ = 0;
  std::optional<Rung> best_;
};

}  // namespace

std::optional<Rung> annealed(const Tape& tape, const Rung& start, std::int64_t target, double most,
                             std::uint64_t seed) {
  return Annealing(tape, start, target, seed).run(most);
}

}  // namespace lethe
