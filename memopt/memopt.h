// The memory stage: decides where every byte lives, before the first step; plan.cpp has its steps.
#pragma once
#include "memopt/planned.h"

namespace lethe {

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options);

/// What all of level 3 takes at each price that there is, from the cheapest to the least.
std::vector<PricedBytes> sweep_memory(Program program, Prepared& prepared, const MemoptOptions& options);

/// What `--memopt none` takes, with all else as it is asked for.
Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options);

}  // namespace lethe
