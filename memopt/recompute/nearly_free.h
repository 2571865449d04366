// What is made again although nobody asks for a price: mostly values that a pass over memory makes of what is there
// anyway, as gelu's output is made of its input, which gelu's gradient reads.
#pragma once
#include <optional>

#include "memopt/recompute/replay.h"

namespace lethe {

/// The share of a step that level 2 gives for that: nobody who has not asked for a price pays one that shows.
constexpr double kNearlyFree = 0.01;

/// The lowest peak that greedy moves find for kNearlyFree of a step. Nothing if none is lower than with all kept.
std::optional<Rung> nearly_free(const Tape& tape);

}  // namespace lethe
