// Updates parameters as soon as that is right, so that gradients die early.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Moves each op of role Optimize up to right after the last op that it depends on: those that write what it reads
/// (its gradient, a clipping factor) and those that read or write what it changes (input gradients and second uses of
/// its parameter, its states). Bits stay the same. Updates under global-norm clipping wait for all gradients and so
/// stay late by themselves.
Program update_early(Program program);

/// Does the same, and with ops of role Backward of which nothing is made but updates: so a weight's gradient comes
/// before that of the layer's input, which then may die before the other is there.
Program gradients_early(Program program);

}  // namespace lethe
