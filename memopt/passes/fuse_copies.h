// On a CPU products read a parameter of another dtype itself: in bf16 and f16 runs they round an f32 one, in f32 runs
// they widen one that is frozen in bf16 or f16, block by block. So the copy of a large weight never stands in memory.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `copy = cast(w); y = fc(x, copy)` becomes `y = fc(x, w)`, where all that read the copy can convert w
/// (OpDef::rounds; where they widen it, by kWeightBlocks), they are few if they round it, it is not pinned, and w stays
/// as it is up to them; within a block. No bit changes. What ranks gather before each use is no parameter, and is
/// copied.
Program fuse_copies(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
