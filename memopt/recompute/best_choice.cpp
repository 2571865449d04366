#include "memopt/recompute/best_choice.h"

#include <algorithm>

namespace lethe {
namespace {

/// Decides on one value after the other, in the order of their makers. Those not decided on take no bytes and are not
/// made again: what is over the target, or dearer than the best so far, stays so whatever is decided later. (But for
/// what an op saves that does another's work on the way.)
///
/// Where of all values decided on only kept ones are read by later forward ops, what is before no longer matters for
/// what comes: there it takes as many bytes as it keeps, and as many seconds. What takes no less of both than another
/// such beginning is given up. On a chain, or along blocks of which each leaves one value, this is dynamic programming.
class Choosing {
 public:
  Choosing(const Tape& tape, std::int64_t target, std::optional<Rung> known, int most)
      : tape_(tape),
        decided_(tape),
        target_(target),
        most_(most),
        choice_(tape.values.size(), Keep::Kept),
        crossing_(tape.candidates.size()),
        kept_(tape.candidates.size()) {
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
    std::int64_t bytes = 0;
    double seconds = 0;
  };

  void set_bytes(const std::vector<VarId>& alike, bool decided) {
    for (const VarId v : alike) decided_.values[v].bytes = decided ? tape_.values[v].bytes : 0;
  }

  void find_crossing() {
    std::vector<int> last(tape_.values.size(), -1);  // forward op that reads it
    for (int i = 0; i < tape_.parts.front().turn; ++i)
      for (const VarId v : tape_.ops[i].call.in) last[v] = i;
    for (std::size_t i = 0; i < crossing_.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j)
        if (const VarId v = tape_.candidates[j].front(); last[v] > tape_.values[tape_.candidates[i].front()].maker)
          crossing_[i].push_back(v);
  }

  /// False if it was stopped.
  bool decide(std::size_t i) {
    if (i == tape_.candidates.size()) return true;
    bool all = true;
    set_bytes(tape_.candidates[i], true);
    for (const Keep keep : {Keep::Kept, Keep::Again, Keep::Each}) {
      if (found_.trials == most_) all = false;
      if (!all) break;
      for (const VarId v : tape_.candidates[i]) choice_[v] = keep;
      all = go_on(i);
    }
    for (const VarId v : tape_.candidates[i]) choice_[v] = Keep::Kept;
    set_bytes(tape_.candidates[i], false);
    return all;
  }

  bool go_on(std::size_t i) {
    ++found_.trials;
    const auto steps = steps_of(decided_, choice_);
    if (!steps) return true;
    const Course course = course_of(decided_, *steps);
    if (course.peak > target_ || (found_.rung && course.seconds >= found_.rung->seconds)) return true;
    if (i + 1 == tape_.candidates.size()) found_.rung = {choice_, course.peak, course.seconds};
    return is_beaten(i, course) || decide(i + 1);
  }

  bool is_beaten(std::size_t i, const Course& course) {
    const bool is_cut = tape_.parts.size() == 1 && std::all_of(crossing_[i].begin(), crossing_[i].end(),
                                                               [&](VarId v) { return choice_[v] == Keep::Kept; });
    if (!is_cut) return false;
    const auto no_less = [](const Beginning& a, const Beginning& b) {
      return a.bytes >= b.bytes && a.seconds >= b.seconds;
    };
    const Beginning now = {course.alive[tape_.parts.front().turn], course.seconds};
    std::vector<Beginning>& known = kept_[i];
    if (std::any_of(known.begin(), known.end(), [&](const Beginning& one) { return no_less(now, one); })) return true;
    known.erase(std::remove_if(known.begin(), known.end(), [&](const Beginning& one) { return no_less(one, now); }),
                known.end());
    known.push_back(now);
    return false;
  }

  const Tape& tape_;
  Tape decided_;
  std::int64_t target_;
  int most_;
  Choice choice_;
  std::vector<std::vector<VarId>> crossing_;  // by candidate: those up to it that later forward ops read
  std::vector<std::vector<Beginning>> kept_;  // by candidate
  BestChoice found_;
};

}  // namespace

BestChoice best_choice(const Tape& tape, std::int64_t target, std::optional<Rung> known, int most) {
  return Choosing(tape, target, std::move(known), most).run();
}

}  // namespace lethe
