// Where a norm of rows reads a sum that others read after it, the norm makes the sum on the way: one pass over memory
// less, and a launch.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// `s = add(a, b); y, .. = norm(s, ..)` becomes `y, .., s = norm(a, .., b)` as Fusion::JoinSum writes it, where the
/// norm is the first that reads s, what is added is of one shape and has not changed since, and no rows lie apart. No
/// bit changes.
Program join_sums(Program program);

}  // namespace lethe
