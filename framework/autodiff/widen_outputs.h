// In bf16 and f16 runs, gradients of f32 parameters: an op that sums in f32 writes its result in f32 itself, where it
// was rounded and then cast. Or the gradient stays as it was rounded.
#pragma once
#include <vector>

#include "framework/autodiff/autodiff.h"

namespace lethe {

/// Where a cast of backward widens output 0 of an op of the same block that can write it wide (OpDef::widens), and
/// nothing else reads that output, the op gets the attribute kWideOutput and writes what the cast gave. The cast is
/// gone, and so is the var between; vars after it move up, in `gradients` too, which are read when the program ends.
void widen_outputs(Program& program, std::vector<ParamGrad>& gradients);

/// Where a cast of backward gives the gradient of a parameter of two axes or more, and nothing else reads it or what
/// was cast, that is the gradient instead, in bf16 or f16. The cast is gone, as above.
void keep_narrow(Program& program, std::vector<ParamGrad>& gradients);

}  // namespace lethe
