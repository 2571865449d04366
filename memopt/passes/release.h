// release_memory: buffers are given back within the step, after the last use of the last var in them.
#pragma once
#include "framework/run/plan.h"
#include "memopt/passes/sharing.h"

namespace lethe {

/// Puts a delete_var op after the last use of each buffer that holds no pinned storage, makes such buffers taken on
/// demand, and counts what is then held at most. A buffer that ops of several blocks write is given back in the
/// innermost block around them all, so a loop gives back after itself what outlives its trips.
Program release_memory(Program program, const Liveness& live, const Sharing& sharing, Plan& plan);

}  // namespace lethe
