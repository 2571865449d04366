// A network without loops and branches that does the same: each loop written out as often as it may run, the two sides
// of a branch one after the other. For models of memory that know no blocks.
#pragma once
#include "framework/builder/network.h"

namespace lethe {

/// Vars that a trip writes are there once a trip; parameters and states are shared by all. Conditions are left out (all
/// trips run), and a branch's outputs are made by an op `if` without blocks, of the condition and both results. What
/// updates an array gives a new var. The program is there to be read, not to be run. Fails beyond a million ops.
Network written_out(const Network& network);

}  // namespace lethe
