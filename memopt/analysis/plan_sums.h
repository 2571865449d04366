// Checks of a plan that need no run of its program.
#pragma once
#include "framework/run/plan.h"

namespace lethe {

/// Fails unless the plan has a place for each var and workspace of the program, and inputs are staged from an op that
/// the executor calls.
void check_sizes(const Program& program, const Plan& plan);

/// Fails unless the plan's sum of bytes is what its buffers and the store take, where so many bytes of buffers on
/// demand are held at most; with branches it may say more of these.
void check_bytes(const Program& program, const Plan& plan, std::int64_t most_on_demand);

}  // namespace lethe
