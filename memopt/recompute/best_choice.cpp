#include "memopt/recompute/best_choice.h"

#include <algorithm>

#include "memopt/recompute/walk.h"

namespace lethe {
namespace {

/// What backward makes takes no bytes.
Tape without_backward(Tape tape) {
  std::vector<bool> made(tape.values.size());  // by a forward op
  for (const TapePart& part : tape.parts) {
    for (int i = part.begin; i < part.turn; ++i)
      for (const VarId v : tape.ops[i].call.out) made[v] = true;
    for (int i = part.turn; i < part.end; ++i) {
      tape.ops[i].call.workspace = 0;
      for (const VarId v : tape.ops[i].call.out)
        if (!made[v]) tape.values[v].bytes = 0;
    }
  }
  return tape;
}

/// Decides on one value after the other, in the order of their makers. Those not decided on take no bytes and are not
/// made again, and what backward itself makes takes no bytes: a value may yet be made again earlier, before that is
/// there. So what is over the target, or dearer than the best so far, stays so whatever is decided later. That is
/// asked when all outputs of an op are decided on. (TapeCall::joins may still save a little time; this is ignored.)
///
/// Where of all values decided on only kept ones are read by later forward ops, two such beginnings differ for what
/// comes by the bytes alive after them and by their seconds alone. One that has no less of any is given up. Later
/// decisions cannot change when its values are made again, so here what backward makes does count against the target.
/// On a chain, or along blocks of which each leaves one value, this is dynamic programming.
class Choosing {
 public:
  Choosing(const Tape& tape, std::int64_t target, std::optional<Rung> known, int most)
      : tape_(tape),
        decided_(without_backward(tape)),
        with_backward_(tape),
        walk_(decided_),
        backward_walk_(with_backward_),
        whole_walk_(tape),
        target_(target),
        most_(most),
        choice_(tape.values.size(), RecomputePolicy::Keep),
        crossing_(tape.candidates.size()),
        beginnings_(tape.candidates.size()) {
    found_.rung = std::move(known);
    for (const std::vector<VarId>& alike : tape.candidates) set_bytes(alike, false);
    find_crossing();
  }

  BestChoice run() && {
    found_.is_best = decide(0);
    return std::move(found_);
  }

 private:
  struct Beginning {
    std::vector<std::int64_t> alive = {};  // bytes by step, from after it until something is made again
    double seconds = 0;
    bool is_no_less(const Beginning& other) const {
      return seconds >= other.seconds && alive.size() == other.alive.size() &&
             std::equal(alive.begin(), alive.end(), other.alive.begin(), std::greater_equal<>());
    }
  };

  int maker_of(std::size_t i) const { return tape_.values[tape_.candidates[i].front()].maker; }
  bool is_last(std::size_t i) const { return i + 1 == tape_.candidates.size(); }
  /// Whether all outputs of the op are decided on.
  bool ends_op(std::size_t i) const { return is_last(i) || maker_of(i + 1) != maker_of(i); }

  void set_bytes(const std::vector<VarId>& alike, bool decided) {
    for (const VarId v : alike)
      decided_.values[v].bytes = with_backward_.values[v].bytes = decided ? tape_.values[v].bytes : 0;
  }

  void find_crossing() {
    std::vector<int> last(tape_.values.size(), -1);  // forward op that reads it
    for (int i = 0; i < tape_.parts.front().turn; ++i)
      for (const VarId v : tape_.ops[i].call.in) last[v] = i;
    for (std::size_t i = 0; i < crossing_.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        if (const VarId v = tape_.candidates[j].front(); last[v] > maker_of(i)) crossing_[i].push_back(v);
  }

  /// False if it was stopped.
  bool decide(std::size_t i) {
    if (i == tape_.candidates.size()) return true;
    bool all = true;
    set_bytes(tape_.candidates[i], true);
    for (const RecomputePolicy policy : {RecomputePolicy::Keep, RecomputePolicy::Once, RecomputePolicy::PerUse}) {
      if (found_.trials == most_) all = false;
      if (!all) break;
      for (const VarId v : tape_.candidates[i]) choice_[v] = policy;
      all = go_on(i);
    }
    for (const VarId v : tape_.candidates[i]) choice_[v] = RecomputePolicy::Keep;
    set_bytes(tape_.candidates[i], false);
    return all;
  }

  bool go_on(std::size_t i) {
    if (!ends_op(i)) return decide(i + 1);
    ++found_.trials;
    if (!walk_.run(choice_)) return decide(i + 1);  // what is made again later may make it in time
    const Course& course = walk_.course();
    if (course.peak > target_ || (found_.rung && course.seconds >= found_.rung->seconds)) return true;
    if (!is_last(i)) return is_beaten(i, walk_.steps(), course) || decide(i + 1);
    whole_walk_.follow(walk_.steps());
    if (const Course& whole = whole_walk_.course(); whole.peak <= target_)
      found_.rung = {choice_, whole.peak, whole.seconds};
    return true;
  }

  bool is_beaten(std::size_t i, const std::vector<Step>& steps, const Course& course) {
    const bool is_cut = tape_.parts.size() == 1 && std::all_of(crossing_[i].begin(), crossing_[i].end(), [&](VarId v) {
                          return choice_[v] == RecomputePolicy::Keep;
                        });
    if (!is_cut) return false;
    backward_walk_.follow(steps);
    if (backward_walk_.course().peak > target_) return true;
    Beginning now{.seconds = course.seconds};
    for (std::size_t s = static_cast<std::size_t>(maker_of(i)) + 1; s < steps.size() && !steps[s].repeated; ++s)
      now.alive.push_back(course.alive[s]);
    std::vector<Beginning>& known = beginnings_[i];
    if (std::any_of(known.begin(), known.end(), [&](const Beginning& one) { return now.is_no_less(one); })) return true;
    known.erase(std::remove_if(known.begin(), known.end(), [&](const Beginning& one) { return one.is_no_less(now); }),
                known.end());
    known.push_back(std::move(now));
    return false;
  }

  const Tape& tape_;
  Tape decided_;        // its values have bytes when they are decided on; none of backward's have
  Tape with_backward_;  // these have theirs
  Walk walk_, backward_walk_, whole_walk_;
  std::int64_t target_;
  int most_;
  Choice choice_;
  std::vector<std::vector<VarId>> crossing_;        // by candidate: those up to it that later forward ops read
  std::vector<std::vector<Beginning>> beginnings_;  // by candidate: none is beaten by another
  BestChoice found_;
};

}  // namespace

BestChoice best_choice(const Tape& tape, std::int64_t target, std::optional<Rung> known, int most) {
  return Choosing(tape, target, std::move(known), most).run();
}

}  // namespace lethe
