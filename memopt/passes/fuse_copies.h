// In bf16 and f16 runs on a CPU: products read the f32 parameter itself and round it block by block. So the copy of a
// large weight never stands in memory, and is not written and read again.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `low = cast(w); y = fc(x, low)` becomes `y = fc(x, w)`, where all that read low can round it (OpDef::rounds), they
/// are few, it is not pinned, and w stays as it is up to them; within a block. No bit changes. What ranks gather before
/// each use is no parameter, and is copied.
Program fuse_copies(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
