// Room for the inputs of the next step: they are copied while this one still runs, so they cannot go where those of
// this one are. But towards the end of a step most of the arena is idle, so it costs nothing.
#pragma once
#include "framework/run/plan.h"
#include "memopt/passes/sharing.h"

namespace lethe {

/// Places all inputs side by side in the first buffer of the plan, from the earliest op of the entry block on after
/// which that much of it is free in one piece to the end of the step. Gives nothing if there is no such op.
Staging stage_inputs(const Program& program, const Liveness& live, const Sharing& sharing, const Plan& plan,
                     const Workspaces& workspaces);

}  // namespace lethe
