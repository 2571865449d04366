// Where two ops read the output of a relu, backward adds their gradients up and masks the sum. The mask can do both,
// which saves two passes over memory.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `s = sum_n(a, b); g = masks(y, s)` becomes `g = masks(y, a, b)` (FusionPart::Mask), where nothing else reads s, it
/// is not pinned, and a and b are written once (Uses), in the same block. No bit changes.
Program mask_sums(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
