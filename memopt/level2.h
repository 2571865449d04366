// Level 2: all that lives in a step lies in one arena, for the ops in the order in which they are, or in a better form
// of the program where there is one.
#pragma once
#include "memopt/planned.h"

namespace lethe {

/// With sums and activations on the way of the ops before them.
Program fused(Program program, const std::vector<Pin>& pins, DeviceKind device);

/// A program with what its ops need, the lives of its vars and their sharing; no plan yet. Activations are fused here,
/// behind views: what writes a part of a wider var stays an op of its own.
Planned analysed(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options);

/// `program` has early updates, if they are wanted.
Planned plan_level2(Program program, Prepared& prepared, const std::vector<Pin>& pins, const MemoptOptions& options);

}  // namespace lethe
