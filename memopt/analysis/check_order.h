// Holds a pass that moves ops against what it was given.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Fails, naming the op, unless `after` has the ops of `before`, each in its block, in an order in which each reads and
/// replaces the same versions of all values as before. A version is what a write leaves, wherever it stands; so what
/// reads one stands between its write and the next.
void check_order(const Program& before, const Program& after);

}  // namespace lethe
