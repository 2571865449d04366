// Which vars of a forward program need a gradient.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Marks, beyond `roots` (by VarId), every float var whose value depends on one of them through forward ops; what a
/// loop carries, through any number of trips.
std::vector<bool> needs_gradient(const Program& program, std::vector<bool> roots);

}  // namespace lethe
