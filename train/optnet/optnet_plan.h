// optnet's memory as a plan that is sound when it is executed. Its lifetimes are those of module calls, which is not
// when memory is really in use; so every sharing is held against the liveness of the program, and what does not stand
// that keeps memory of its own.
#pragma once
#include <vector>

#include "framework/run/plan.h"
#include "train/optnet/torch_program.h"

namespace lethe {

struct OptnetPlan {
  Plan plan;
  std::vector<TorchHolds>
      as;  // by buffer of the plan: what all of its vars are held as; a workspace is held as Nothing
  /// Of the plan's buffers: what the rule would share, but not soundly. 0 for the networks of the published tables.
  std::int64_t kept_apart = 0;
};

/// What Torch held without optnet: a buffer for each storage of the modules.
OptnetPlan plan_as_defined(const TorchProgram& torch, const Workspaces& workspaces);

/// What optnet made of it. The program must be that of the same options. Ghosts have buffers of their own, as they had.
OptnetPlan plan_optnet(const TorchProgram& torch, const OptnetOptions& options, const Workspaces& workspaces);

}  // namespace lethe
