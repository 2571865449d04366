// When each var holds a value that is still needed. Time is counted in steps: each op has one; an op with blocks has
// one before them and one at the end of each, in which its results are taken. So it spans its blocks, and what it lists
// lives through all of them; but the initial values of a loop are read in its first step alone.
#pragma once
#include <limits>
#include <vector>

#include "framework/program.h"

namespace lethe {

using Step = int;
inline constexpr Step kForever = std::numeric_limits<Step>::max();

/// From the step that writes it up to the one after the last that reads it: [born, dies). A value that nobody reads
/// lives for the step that writes it.
struct Life {
  Step born = kForever, dies = 0;
  bool is_empty() const { return born >= dies; }
  bool operator==(const Life&) const = default;
};
/// From the earlier birth to the later death.
Life joined(Life a, Life b);

/// The steps of an op: [first, last]; of a delete_var none, so `last` is before `first`.
struct OpSteps {
  Step first = 0, last = 0;
};

struct Liveness {
  std::vector<Life> vars;                 // by VarId; Params, States: forever; Inputs: from step 0; unused vars: empty
  std::vector<std::vector<OpSteps>> ops;  // by block and op; empty for blocks that no op has
  std::vector<std::pair<BlockId, int>> at;  // by step: block and op index
  Step steps() const { return static_cast<Step>(at.size()); }
};

/// One pass over all ops. A delete_var is no use.
Liveness liveness(const Program& program);

}  // namespace lethe
