// Copies of ops that run once more, with vars of their own. All that makes such copies names their vars in this way.
#pragma once
#include <string>
#include <utility>

#include "framework/program.h"

namespace lethe {

/// Ends the names of what a forward op has computed again.
inline constexpr const char* kAgain = "@AGAIN";

/// A var like `v` in `block`, for what is computed again.
inline VarId clone_var(Program& program, VarId v, BlockId block) {
  Var again = program.vars[v];
  again.name += kAgain;
  again.kind = Kind::Temp;
  again.block = block;
  return add_var(program, std::move(again));
}

}  // namespace lethe
