// The order of the ops in which least is alive at once: a search over the sets of ops that may have run, below a peak
// that falls. Ops that leave no more alive than there was before run at once, alone or in a row: alone nothing is lost
// by it, in a row next to never. So for most networks some thousand sets are all there are.
#pragma once
#include "memopt/recompute/tape.h"

namespace lethe {

/// The program of the tape with the ops of block 0 in such an order; as it is if none is found that takes less. Each op
/// reads what it read before. Work and memory are bounded, and the best order so far is taken; no clock is looked at. A
/// program with ops that exchange values between ranks, or with very many ops, is given back as it is.
Program least_order(const Program& program, const Tape& tape);

}  // namespace lethe
