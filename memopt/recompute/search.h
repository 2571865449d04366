// Which values to make again so that a step fits: a ladder of choices from all kept to as few as can be, each the
// cheapest that was found for its peak. What level 2 makes again is among them (nearly_free.h).
#pragma once
#include "memopt/recompute/replay.h"

namespace lethe {

/// The cheapest that was found whose peak is no higher than `target`; nothing if none was.
std::optional<Rung> cheapest_within(const Tape& tape, std::int64_t target);

/// From no cost on; each rung costs more than the one before. Greedy moves find rungs, or for small programs all
/// choices do, and where these are dear, annealing finds more. Mostly each peaks lower than the one before; those of
/// greedy moves stay where annealing has better ones, since the plan of a rung may take less than the peak, once ops
/// are fused. The same on every machine: no clock is looked at.
std::vector<Rung> ladder(const Tape& tape);

}  // namespace lethe
