// Copies of vars, for ops that run once more; they are named after the first.
#pragma once
#include <string>
#include <utility>

#include "framework/language/program.h"

namespace lethe {

/// Ends the names of what a forward op has computed again.
inline constexpr const char* kAgain = "@AGAIN";

/// A temp like `v` in `block`, called as `v` with `suffix` after the name.
inline VarId clone_var(Program& program, VarId v, BlockId block, const std::string& suffix = kAgain) {
  Var again = program.vars[v];
  again.name += suffix;
  again.kind = Kind::Temp;
  again.block = block;
  return add_var(program, std::move(again));
}

}  // namespace lethe
