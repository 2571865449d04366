// Where relu feeds nothing but a max pool, alone or beside others in a concatenation, all that backward asks of relu's
// output is whether the picked elements are above 0, and the pool's output says that. So the pooled gradient is masked
// before it goes back to where its elements were picked, and relu's output is not kept.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `a = returns_picked(index, d); b = masks(y, a)` becomes `m = masks(p, d); b = returns_picked(index, m)` where `p`
/// and `index` are what was picked of `y` (FusionPart::Pick), all are written once (Uses) in one block, nothing else
/// reads `a`, and it is not pinned. Where `y` has joined parts and `a` is cut into the same, each is masked by its own
/// part of `y`: then these masks go, and the cuts give what they gave. Every bit of `b` stays: a picked element of `y`
/// is equal to each element of `p` that it was picked for, so all of these are masked or none, and a sum of zeros is 0;
/// what was not picked is 0 either way.
Program mask_picked(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
