// Who makes a var, and whether it stays as it was made.
#pragma once
#include <vector>

#include "framework/op_def.h"
#include "framework/views.h"

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

/// By VarId: whether ops of the program make it, and what it shows, once and never update it.
inline std::vector<bool> settled_vars(const Program& program) {
  const std::vector<const Op*> maker = sole_makers(program);
  const std::vector<VarId> root = view_root(program);
  const auto is_made = [&](VarId v) { return maker[v] && !op_def(maker[v]->type).updates; };
  std::vector<bool> settled(program.vars.size());
  for (VarId v = 0; v < static_cast<VarId>(settled.size()); ++v) settled[v] = is_made(v) && is_made(root[v]);
  return settled;
}

}  // namespace lethe
