// The memory stage: decides where every byte lives, before the first step; plan.cpp has its steps.
#pragma once
#include "memopt/planned.h"

namespace lethe {

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options);

/// What level 3 takes at each price that it offers, from the cheapest to the one of fewest bytes.
std::vector<PricedBytes> sweep_memory(Program program, Prepared& prepared, const MemoptOptions& options);

/// The plan of `--memopt none`, with all else as it is asked for.
Plan plan_unshared(Program program, Prepared& prepared, const MemoptOptions& options);

}  // namespace lethe
