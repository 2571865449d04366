// Parameters, and updates of them, that several ranks share out (ZeRO: Rajbhandari et al., 2020).
#pragma once
#include <vector>

#include "framework/language/program.h"
#include "framework/ranks/peers.h"

namespace lethe {

/// After the updates of shares of parameters (kRanks) makes these whole on all ranks, in buckets of at least `bucket`
/// bytes: each begins after the last of its updates, and all are waited for at the end of the step.
void gather_updated(Program& program, std::int64_t bucket);

/// The parameters of which a rank keeps a share alone: those that are worth a message of their own.
std::vector<VarId> params_to_share(const Program& program);
/// Makes each of `params` the share that the rank has of it, and updates of shares updates of all there is. Ops that
/// read one read what is gathered before the first of them in forward, and again in backward, unless nothing else has
/// been gathered in between. What an op reads is on its way while the ops run that read what was gathered before.
void share_params(Program& program, const std::vector<VarId>& params, Rank rank);

}  // namespace lethe
