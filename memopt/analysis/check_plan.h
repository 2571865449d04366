// Holds a plan against the program, without asking how it was made: a plan is compared, not believed.
#pragma once
#include "framework/plan.h"
#include "memopt/passes/sharing.h"

namespace lethe {

/// Fails, naming the vars, if
///  - a var or workspace that needs memory has no place, or one that is not aligned or leaves its buffer;
///  - two storages, or a storage and a workspace, lie over each other while both live, or over what is staged;
///  - in a storage one value is still needed when the next is written, unless the next is made from it in place by an
///    op that declares the pair;
///  - something else is in the memory of a pinned var.
void check_plan(const Program& program, const Liveness& live, const std::vector<Pin>& pins, const Sharing& sharing,
                const Plan& plan, const Workspaces& workspaces);

}  // namespace lethe
