// Where what an op adds on the way (fuse_sums) is the output of a batch norm, the op normalises it itself: the norm
// then gives its statistics alone, which saves a pass that writes it and one that reads it.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// The two ops become those of the rule Fusion::ShortcutNorm, where nothing else reads what is added, it is not pinned,
/// and nothing writes to what its maker reads before it is added. Results stay the same to the bit.
Program fuse_shortcut_norms(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
