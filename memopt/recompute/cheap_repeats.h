// What is made again although nobody asks for a price: values that a pass over memory makes of what is there anyway, as
// gelu's output is made of its input, which gelu's gradient reads.
#pragma once
#include <limits>
#include <optional>

#include "memopt/recompute/replay.h"

namespace lethe {

/// The share of a step that level 2 gives for that: nobody who has not asked for a price pays one that shows.
constexpr double kNearlyFree = 0.01;

/// Does not keep output 0 of cheap ops (TapeOp::cheap) where, from the first reader of backward on that asks for it,
/// all that the op reads is there for other readers, too, or is made again there in the same way. Of these values it
/// keeps those that the peak allows, and, if the others take more than `seconds` of a step, those that take most for
/// their bytes. Nothing if the peak is no lower than with all kept.
std::optional<Rung> cheap_repeats(const Tape& tape, double seconds = std::numeric_limits<double>::infinity());

}  // namespace lethe
