// Level 0 and 1: the buffer of a storage that has died goes to one that is born later, as Fluid's memory_optimize had
// it (https://github.com/PaddlePaddle/Paddle/pull/7385). As a plan: no var is renamed, nothing is written twice.
#pragma once
#include <vector>

#include "memopt/passes/sharing.h"

namespace lethe {

enum class Fit {
  Never,
  SameShape,   // level 0: to the same shape and dtype
  LargeEnough  // level 1: to the same dtype, if it is large enough
};

struct ReuseRule {
  Fit fit = Fit::Never;
  bool by_size = true;  // free buffers are tried by size; false: in order of arrival, as Fluid's first version did
};

/// The buffer of each storage, -1 for those in the Store. Tick by step outputs choose before this op's inputs are
/// released; a pool holds the free buffers by size, those of a size in order of arrival, and the first that serves is
/// taken. Pinned storages neither take nor give. Each hit is logged as
/// `!!! 3, relu2.y[128,32,32,16] => conv1.y[128,32,32,16], cache idx 0, pool size 4` with the op's number, and each
/// refusal with its reason.
std::vector<int> reuse_buffers(const Program& program, const Liveness& live, const Sharing& sharing, ReuseRule rule,
                               Log& log);

}  // namespace lethe
