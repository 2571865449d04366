// The order of the ops in which least is alive at once: a search over the sets of ops that may have run, below a peak
// that falls. An op that leaves no more alive than there was before runs at once, since nothing is lost by it; so most
// networks are searched through in some thousand sets.
#pragma once
#include "memopt/recompute/tape.h"

namespace lethe {

/// The program of the tape with the ops of block 0 in such an order; as it is if none is found that takes less. Each op
/// reads what it read before. After a bounded number of steps the best order so far is taken; no clock is looked at.
/// Ops that exchange values with other ranks keep all in their order.
Program least_order(const Program& program, const Tape& tape);

}  // namespace lethe
