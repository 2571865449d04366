// Gradients of parameters in bf16 or f16 runs: an op that sums in f32 writes its result in f32 itself, where it was
// rounded and then cast.
#pragma once
#include <vector>

#include "framework/program.h"

namespace lethe {

/// Where a cast of backward widens the only output of an op of the same block that can write it wide
/// (OpDef::widens), and nothing else reads that output, the op gets the attribute kWideOutput and writes what the cast
/// gave; the cast is gone. `results`: vars that are read when the program has ended.
void widen_outputs(Program& program, const std::vector<VarId>& results);

}  // namespace lethe
