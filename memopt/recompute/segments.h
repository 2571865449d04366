// Choices for chains of layers: what crosses a cut between two segments of the forward ops is kept, all else is made
// again once, a segment at a time (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016). They reach far
// down, where greedy moves, which let go of one value after another, end in dead ends.
#pragma once
#include <vector>

#include "memopt/recompute/replay.h"

namespace lethe {

/// For segments whose values take at most half, a third, ... of all bytes: the cuts that keep the fewest bytes, found
/// by going through all. Each rung peaks lower than the one before.
std::vector<Rung> segmented(const Tape& tape);

}  // namespace lethe
