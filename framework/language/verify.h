// The rules that every Program keeps.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Fails, naming op and var, unless: ids are in range; names are unique; slots match the op's definition; a temp is
/// written once and before it is read (what a loop carries excepted), and touched only in its own block and those in
/// it (a delete_var may also stand in a block around the var's own; what one side of a branch writes, the same side of
/// its gradient reads, so one way on which it is written is enough); inputs are never written; a temp that is or has a
/// view is not changed in place; Params and States are written only by ops that also read them in place; a block
/// belongs to one op, which lists every outer var that it touches; loops and branches are as
/// framework/language/control_flow.h says; shapes and dtypes are what the op's rule gives.
void verify(const Program& program);

/// Whether this build holds every pass against these rules: debug builds, those under sanitizers and CI's. Elsewhere it
/// would take more than a hundredth of the time of planning.
#ifdef LETHE_CHECK_PASSES
inline constexpr bool kChecksPasses = true;
#else
inline constexpr bool kChecksPasses = false;
#endif
/// verify, where passes are checked; names the pass.
void verify_after(const char* pass, const Program& program);

}  // namespace lethe
