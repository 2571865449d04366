// Activations computed on the way: one pass over memory less.
#pragma once
#include "framework/language/device_info.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// Lets an op that can (OpDef::activates) apply the `relu` after it to what it writes, if nothing else reads that and
/// nobody has pinned it, and relu writes no rows that lie apart. What relu gave becomes a view of it, so every var
/// keeps its name. For programs whose backward stands already: it reads relu's result alone.
Program fuse_activations(Program program, const std::vector<Pin>& pins, DeviceKind device);

}  // namespace lethe
