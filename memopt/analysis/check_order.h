// Holds a pass that moves ops against what it was given.
#pragma once
#include "framework/error.h"
#include "framework/verify.h"

namespace lethe {

/// Fails, naming the op, unless `after` has the ops of `before`, each in its block, in an order in which each reads and
/// replaces the same versions of all values as before. A version is what a write leaves, wherever it stands; so what
/// reads one stands between its write and the next.
void check_order(const Program& before, const Program& after);

/// What a pass makes of a program by moving its ops.
template <class Pass>
Program reordered(const char* name, Program program, const Pass& pass) {
  if (!kChecksPasses) return pass(std::move(program));
  Program moved = pass(program);
  verify_after(name, moved);
  with_context(message("after ", name), [&] { check_order(program, moved); });
  return moved;
}

}  // namespace lethe
