#include "framework/language/weight_blocks.h"

#include <algorithm>

#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"

namespace lethe {

void mark_weight_blocks(Program& program) {
  std::vector<bool> widened(program.vars.size());  // by VarId
  const auto widens = [&](const Op& op) {
    const Var& from = program.vars[op.in[0]];
    if (from.kind != Kind::Param || wide_of(from.dtype) == from.dtype) return false;
    return is_in_blocks(from.dtype) || program.vars[op.out[0]].dtype == wide_of(from.dtype);
  };
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (op.type == kCast && widens(op)) widened[op.out[0]] = true;
  for (Block& block : program.blocks)
    for (Op& op : block.ops)
      if (op_def(op.type).rounds &&
          std::any_of(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && widened[v]; }))
        op.attrs.set(kWeightBlocks, true);
}

}  // namespace lethe
