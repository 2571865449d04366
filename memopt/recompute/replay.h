// The order in which a program runs when some values are not kept for backward: all that makes such a value again runs
// right before an op that reads it.
#pragma once
#include <algorithm>
#include <optional>

#include "memopt/recompute/tape.h"

namespace lethe {

/// What happens to a forward value that backward, or what makes another one again, reads.
enum class RecomputePolicy : std::uint8_t {
  Keep,        // it stays from its op to its last reader
  Once,        // it is made again for its first reader of backward, of each of two passes, and stays from there
  PerCluster,  // it is made again for each reader, but for those that follow closely
  PerUse       // it is made again for each reader
};
/// By VarId of a value's root; Keep for all that is no candidate.
using Choice = std::vector<RecomputePolicy>;

/// Readers of a value that are no more ops apart share it under PerCluster.
inline constexpr int kClose = 12;

/// Keeps all that backward reads; what it does not read is made again where something else needs it.
Choice keep_all(const Tape& tape);

/// A run of an op: the first, or one more; with `again` in the form that gives output 0 alone.
struct Step {
  int op = 0;
  bool repeated = false, again = false;
};

/// The run of a kernel that a step is.
const TapeCall& call_of(const Tape& tape, const Step& step);

/// Gives nothing if what a value is made of has changed by the time at which it is to be made again.
std::optional<std::vector<Step>> steps_of(const Tape& tape, const Choice& choice);

/// How long a value lives: from the step that makes it to the step that reads it last.
struct Instance {
  VarId value = kNone;
  int born = 0, last = 0;
};

/// What a run under a choice takes.
struct Course {
  std::int64_t peak = 0;            // most bytes alive at once
  double seconds = 0;               // of what is repeated
  std::vector<std::int64_t> alive;  // bytes by step
  std::vector<Instance> instances;
};
Course course_of(const Tape& tape, const std::vector<Step>& steps);

/// Under no choice is the peak lower: what is never made again lives through each op, and so do its operands.
std::int64_t least_peak(const Tape& tape);

/// A choice and what it comes to.
struct Rung {
  Choice choice;
  std::int64_t peak = 0;  // bytes
  double seconds = 0;     // of what is made again
};
/// The seconds as a share of a step in which nothing is made again.
inline double overhead_of(const Tape& tape, const Rung& rung) { return rung.seconds / std::max(tape.seconds, 1e-9); }

}  // namespace lethe
