// In bf16 and f16 runs: an update reads a gradient in the dtype in which backward made it, and widens it itself. Where
// it was cast to f32 before, that saves a launch and two passes over it.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `g = cast(low); update(.., g, ..)` becomes `update(.., low, ..)`, where nothing else reads g, it is not pinned, and
/// low is written once (Uses); in block 0 alone. No bit changes.
Program fuse_casts(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
