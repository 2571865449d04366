// Products by weights in fewer bits: they are in blocks of the weight whether they read it or a copy of it, so the
// bits are the same.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// An attribute of ops that may read a parameter in fewer bits than they compute in (OpDef::rounds): products go by the
/// blocks in which they would widen it (kernels/gemm/weight_blocks.h), though they read a copy.
inline constexpr const char* kWeightBlocks = "weight_blocks";

/// Sets it where a copy of such a parameter is read.
void mark_weight_blocks(Program& program);

}  // namespace lethe
