// A scalar to differentiate: the sum of all elements of some vars, each with a fixed random weight in [-1, 1). A plain
// sum would hide errors that cancel, as in the gradient of softmax.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe::testing {

/// Appends the op `test_objective` over `vars` (all of one float dtype); gives the scalar.
VarId append_objective(Program& program, const std::vector<VarId>& vars);

/// Ops whose names begin so are registered by tests alone.
inline constexpr const char* kTestOpPrefix = "test_";

}  // namespace lethe::testing
