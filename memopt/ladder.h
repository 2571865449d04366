// Level 3: an arena as at level 2. A budget of bytes or of time decides what is computed again, of all that backward
// reads.
#pragma once
#include "memopt/plan.h"

namespace lethe {

/// Of the plans on the ladder (memopt/recompute/search.h) that which the options ask for: within a budget the cheapest
/// that fits, so that less budget never takes more bytes; the least there is if none fits, which the caller has to
/// refuse. Without a budget the least whose overhead is no larger than was asked for.
Planned plan_on_ladder(MemoryStage& stage, const Planned& form);

/// All plans on the ladder, each of fewer bytes than the one before.
std::vector<PricedBytes> sweep_ladder(MemoryStage& stage, const Planned& form);

}  // namespace lethe
