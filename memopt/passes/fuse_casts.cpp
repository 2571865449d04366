#include "memopt/passes/fuse_casts.h"

#include "framework/op_def.h"
#include "framework/reads.h"
#include "memopt/analysis/makers.h"

namespace lethe {

Program fuse_casts(Program program, const std::vector<Pin>& pins) {
  const Program before = program;
  const std::vector<int> reads = reads_of(before);
  const std::vector<const Op*> maker = sole_makers(before);
  const std::vector<bool> settled = settled_vars(before);
  std::vector<bool> gone(program.vars.size());  // by VarId: what the casts gave
  std::vector<Op>& ops = program.blocks[0].ops;
  for (Op& op : ops) {
    const int slot = op_def(op.type).gradient;
    if (slot < 0) continue;
    const VarId g = op.in[slot];
    const Op* const cast = maker[g];
    if (!cast || cast->type != kCast || reads[g] != 1 || pins[g] != Pin::None || before.vars[g].block != 0) continue;
    const Var& low = before.vars[cast->in[0]];
    if (!settled[cast->in[0]] || low.block != 0 || !is_float(low.dtype) || wide_of(low.dtype) != before.vars[g].dtype)
      continue;
    op.in[slot] = cast->in[0];
    gone[g] = true;
  }
  std::erase_if(ops, [&](const Op& op) { return op.type == kCast && gone[op.out[0]]; });
  return program;
}

}  // namespace lethe
