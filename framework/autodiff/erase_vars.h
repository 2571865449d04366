// Vars that no op touches any more.
#pragma once
#include <vector>

#include "framework/autodiff/autodiff.h"

namespace lethe {

/// Takes those that are `gone` (by VarId) out of the program. Vars after them move up, in `gradients` too.
void erase_vars(Program& program, const std::vector<bool>& gone, std::vector<ParamGrad>& gradients);

}  // namespace lethe
