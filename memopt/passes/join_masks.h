// Where relu stands after a sum with a batch norm's output, its mask makes a gradient that several ops read. The
// first of them, the norm's gradient, can make it on the way, which saves a pass over memory.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// `g = masks(..); ... = gradient(.., g, ..)` becomes `..., g = joined(.., ..)` as Fusion::Join writes it, where no op
/// reads g before, what the mask reads is written once (Uses), and nothing of it is part of a slice or concatenation;
/// in block 0 alone. No bit changes.
Program join_masks(Program program);

}  // namespace lethe
