// Updates that compute their gradient themselves, some of it at a time: so a large gradient never stands in memory.
#pragma once
#include "framework/language/program.h"
#include "memopt/analysis/pins.h"

namespace lethe {

/// `g = matmul(a, b); update(.., g, ..)` becomes `matmul_update(.., a, b, ..)` where matmul can (Fusion::Update),
/// nothing else reads g, it is not pinned, and a and b are inputs or written once (Uses); in block 0 alone. a and b
/// live up to the update, so it stands after update_early. Bits stay the same.
Program fuse_updates(Program program, const std::vector<Pin>& pins);

}  // namespace lethe
