// The results that loops and branches hand on. A result may stand in the memory of the var that it becomes, as soon as
// the trip no longer reads that var.
#pragma once
#include <functional>
#include <vector>

#include "memopt/analysis/liveness.h"

namespace lethe {

/// The last op of a block, or of those in it, that reads a var.
struct LastRead {
  Tick step = -1;                   // -1: none does
  std::vector<VarId> over_it = {};  // its outputs that it may write over the var, which it then reads once
};
/// The last read of a var for which `is_it` holds. A loop reads initial values that it carries in its first step alone.
LastRead last_read(const Program& program, const Liveness& live, BlockId block,
                   const std::function<bool(VarId)>& is_it);

/// Gives for each block the first step of the outermost loop around it; kForever if no loop is. A pinned var of the
/// block is kept from that step on, because in the next trip all that stands before its op runs again.
std::vector<Tick> loop_begins(const Program& program, const Liveness& live);

/// Gives the vars that become output `i` of a loop or a branch, one of each block that gives it.
std::vector<VarId> results_for(const Program& program, const Op& op, std::size_t i);

/// Lets a result that stands in the memory of what it becomes live as long as that. `storages` has the storage of each
/// var, `lives` the life of each var that is no view, together with its views.
void prolong_results(const Program& program, const Liveness& live, const std::vector<int>& storages,
                     std::vector<Life>& lives);

}  // namespace lethe
