// An update that computes its gradient itself, as a product: some rows at a time, which it applies while they are in
// the cache. So the gradient never stands in memory.
#pragma once
#include "framework/language/op_def.h"

namespace lethe {

/// "matmul_" + the update's type: in place of its gradient it reads a and b, and the gradient is a^T b. On a CPU alone.
/// Bits are those of `matmul` with transpose_a and the update after it, where is_in_row_blocks(); elsewhere they may
/// be others.
OpDef with_product(const OpDef& update);

}  // namespace lethe
