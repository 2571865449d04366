// Sums on the way: an op that can (OpDef::adds) adds to what it writes what an `add` after it, or a sum of two
// gradients, would, which saves the memory passes of the sum.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// Where the later of a sum's two operands, of one shape, comes from such an op of the same block, nothing else reads
/// it, it is not pinned, and the other operand is there and holds what the sum reads, the op gives the sum itself.
/// Results stay the same to the bit.
Program fuse_sums(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
