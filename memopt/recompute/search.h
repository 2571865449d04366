// Which values to make again so that a step fits: a ladder of choices from all kept to as few as can be, each the
// cheapest that was found for its peak. What level 2 makes again is among them (cheap_repeats.h).
#pragma once
#include "memopt/recompute/replay.h"

namespace lethe {

/// The cheapest that was found whose peak is no higher than `target`; nothing if none was.
std::optional<Rung> cheapest_within(const Tape& tape, std::int64_t target);

/// From the largest peak and no cost down; each rung peaks lower than the one before and costs more. By greedy moves,
/// annealed where these are dear, or for small programs by all choices. The same on every machine: no clock is looked
/// at.
std::vector<Rung> ladder(const Tape& tape);

}  // namespace lethe
