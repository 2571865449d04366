// The rules that every Program keeps.
#pragma once
#include "framework/program.h"

namespace lethe {

/// Fails, naming op and var, unless: ids are in range; names are unique; slots match the op's definition; a temp is
/// written once and before it is read (what a loop carries excepted), and touched only in its own block and those in
/// it; inputs are never written; a temp that is or has a view is not changed in place; Params and States are written
/// only by ops that also read them in place; a block belongs to one op, which lists every outer var that it touches;
/// loops and branches are as framework/control_flow.h says; shapes and dtypes are what the op's rule gives.
void verify(const Program& program);

}  // namespace lethe
