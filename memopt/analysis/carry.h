// What loops and branches hand on: a result may be made in the memory of what it becomes, from when that is no longer
// read in the trip.
#pragma once
#include <functional>
#include <vector>

#include "memopt/analysis/liveness.h"

namespace lethe {

/// The last op of a block, or of those in it, that reads a var.
struct LastRead {
  Tick step = -1;           // -1: none does
  bool hands_over = false;  // it reads the var once and may write `output` over it
  VarId output = kNone;
};
/// Of the vars for which `is_it` holds. A loop reads the initial values of what it carries in its first step alone.
LastRead last_read(const Program& program, const Liveness& live, BlockId block,
                   const std::function<bool(VarId)>& is_it);

/// By block: the first step of the outermost loop around it; kForever if there is none. What is pinned there is kept
/// from then on: in the next trip all that stands before its op runs again.
std::vector<Tick> loop_begins(const Program& program, const Liveness& live);

/// What becomes output `i` of a loop or a branch: of each block that gives it.
std::vector<VarId> results_for(const Program& program, const Op& op, std::size_t i);

/// A result that is made in the memory of what it becomes lives on as that. `storages`: of each var; `lives`: of each
/// var that is no view, with its views.
void prolong_results(const Program& program, const Liveness& live, const std::vector<int>& storages,
                     std::vector<Life>& lives);

}  // namespace lethe
