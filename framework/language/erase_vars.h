// Vars that no op touches any more.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Takes those that are `gone` (by VarId) out of the program; vars after them move up. Gives the id that each var has
/// now, kNone for what is gone.
std::vector<VarId> erase_vars(Program& program, const std::vector<bool>& gone);

}  // namespace lethe
