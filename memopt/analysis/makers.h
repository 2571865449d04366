// Who makes a var.
#pragma once
#include <vector>

#include "framework/program.h"

namespace lethe {

/// By VarId: the only op that writes it, if that is no loop or branch; else null. The program must outlive it.
inline std::vector<const Op*> sole_makers(const Program& program) {
  std::vector<const Op*> maker(program.vars.size());
  std::vector<int> writes(program.vars.size());
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      for (const VarId v : op.out) maker[v] = writes[v]++ == 0 && op.blocks.empty() ? &op : nullptr;
  return maker;
}

}  // namespace lethe
