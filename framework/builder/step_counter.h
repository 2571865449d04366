// The State that counts steps: dropout and whatever rounds by chance read it, append_updates lets it count.
#pragma once
#include "framework/language/program.h"

namespace lethe {

inline constexpr const char* kStepCounter = "step";

/// The program's own, or one made here; kNone if there is none and none is needed.
inline VarId step_counter(Program& program, bool needed = true) {
  const VarId step = find_var(program, kStepCounter);
  if (step != kNone && program.vars[step].kind == Kind::State) return step;
  if (!needed) return kNone;
  return add_var(program, {.name = kStepCounter, .dtype = DType::i64, .kind = Kind::State});
}

}  // namespace lethe
