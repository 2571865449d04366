// The rules that every Program keeps.
#pragma once
#include "framework/program.h"

namespace lethe {

/// Fails, naming op and var, unless: ids are in range; names are unique; slots match the op's definition; a temp is
/// written once and before it is read (loop-carried vars, block params and results excepted); inputs are never written;
/// Params and States are written only by ops that also read them in place; an op with blocks lists every outer var that
/// they touch; shapes and dtypes are what the op's rule gives.
void verify(const Program& program);

}  // namespace lethe
