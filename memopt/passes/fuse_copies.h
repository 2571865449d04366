// Products read a parameter of another dtype itself, block by block: one that is frozen in blocks of few bits, and on a
// CPU also an f32 one, which bf16 and f16 runs round, and one that is frozen in bf16 or f16, which f32 runs widen. So
// the copy of a large weight never stands in memory.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `copy = cast(w); y = fc(x, copy)` becomes `y = fc(x, w)`, where all that read the copy can convert w
/// (OpDef::rounds; where they widen it, by kWeightBlocks), they are few if they round it, it is not pinned, and w stays
/// as it is up to them; within a block. No bit changes. What ranks gather before each use is no parameter, and is
/// copied.
Program fuse_copies(Program program, const std::vector<Pin>& pins);
/// The same of weights in blocks alone, which products on a GPU convert, too.
Program fuse_blocks(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
