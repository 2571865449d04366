// Level 2: one block of memory and an offset in it for every input, temp and workspace.
#pragma once
#include <string>

#include "framework/run/plan.h"
#include "memopt/passes/sharing.h"

namespace lethe {

/// How good an arena is: no placement of these storages, with the ops in this order, takes less than
/// `lower_bound`.
struct ArenaFacts {
  std::int64_t bytes = 0;
  std::int64_t lower_bound = 0;  // most bytes alive at one step, each storage rounded up to the device's alignment
  std::string bound_op = {};     // first while this op runs: its type and first output
  bool certified = false;        // no smaller one exists: it equals the bound, or a search was exhausted
  bool any_order = false;        // nor in another order of these ops (recompute/least_order.h)
};

struct ArenaPlan {
  Plan plan;
  ArenaFacts facts;
};

/// Bytes alive at each step, each storage and workspace rounded up to the device's alignment.
std::vector<std::int64_t> bytes_alive(const Liveness& live, const Sharing& sharing, const Workspaces& workspaces);

/// A workspace lives for its op alone; inputs and what is pinned live to the end of the step. `seconds` bounds the
/// search for a placement (in work, so the answer is the same on every machine).
ArenaPlan plan_arena(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                     double seconds);

}  // namespace lethe
