// Where relu stands after a batch norm, backward masks a gradient by relu's output and hands it to the norm's
// gradient. That op can tell from its own input what relu let through: one pass over memory less, and relu's output is
// let go earlier.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `g = masks(y, dy); ... = gradient(.., g, ..)` becomes `gradient(.., dy, ..)` as Fusion::Mask writes it, where y is
/// an activation's, nothing else reads g, it is not pinned, dy is written once (Uses), and what the op before the
/// activation read has not changed since; in block 0 alone. No bit changes.
Program fuse_masks(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
