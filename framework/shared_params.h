// Parameters, and updates of them, that several ranks share out (ZeRO: Rajbhandari et al., 2020).
#pragma once
#include <vector>

#include "framework/peers.h"
#include "framework/program.h"

namespace lethe {

/// Behind the updates of shares of parameters (kRanks) makes these whole on all ranks, in buckets of at least `bucket`
/// bytes: each begins behind the last of its updates, and all are waited for at the end of the step.
void gather_updated(Program& program, std::int64_t bucket);

/// The parameters of which a rank keeps a share alone: those that are worth a message of their own.
std::vector<VarId> params_to_share(const Program& program);
/// Makes each of `params` the share that the rank has of it, and updates of shares updates of all there is. Ops of one
/// role that read it one after the other read what is gathered before the first of them, while the ops that read the
/// one gathered before run.
void share_params(Program& program, const std::vector<VarId>& params, Rank rank);

}  // namespace lethe
