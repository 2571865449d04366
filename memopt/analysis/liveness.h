// When each var holds a value that is still needed. Time is counted in ticks: each op has one; an op with blocks has
// one before them and one at the end of each, in which its results are taken. So it spans its blocks, and what it lists
// lives through all of them; but the initial values of a loop are read in its first tick alone.
#pragma once
#include <limits>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

using Tick = int;
inline constexpr Tick kForever = std::numeric_limits<Tick>::max();

/// From the tick that writes it up to the one after the last that reads it: [born, dies). A value that nobody reads
/// lives for the tick that writes it.
struct Life {
  Tick born = kForever, dies = 0;
  bool is_empty() const { return born >= dies; }
  bool operator==(const Life&) const = default;
};
/// From the earlier birth to the later death.
Life hull(Life a, Life b);

/// The ticks of an op: [first, last]; of a delete_var none, so `last` is before `first`.
struct OpTicks {
  Tick first = 0, last = 0;
};

struct Liveness {
  std::vector<Life> vars;                 // by VarId; Params, States: forever; Inputs: from tick 0; unused vars: empty
  std::vector<std::vector<OpTicks>> ops;  // by block and op; empty for blocks that no op has
  std::vector<std::pair<BlockId, int>> at;  // by tick: block and op index
  Tick ticks() const { return static_cast<Tick>(at.size()); }
};

/// One pass over all ops. A delete_var is no use.
Liveness liveness(const Program& program);

}  // namespace lethe
