#include "memopt/passes/mask_sums.h"

#include "framework/op_def.h"
#include "framework/reads.h"
#include "memopt/analysis/makers.h"

namespace lethe {

Program mask_sums(Program program, const std::vector<Pin>& pins) {
  const Program before = program;
  const std::vector<int> reads = reads_of(before);
  const std::vector<const Op*> maker = sole_makers(before);
  const std::vector<bool> settled = settled_vars(before);
  std::vector<bool> gone(program.vars.size());  // by VarId: the sums
  for (Block& block : program.blocks) {
    for (Op& op : block.ops) {
      if (!op_def(op.type).masks || op.in.size() != 2) continue;
      const VarId masked = op.in[1];
      const Op* const sum = maker[masked];
      if (!sum || sum->type != kSum || sum->in.size() != 2 || reads[masked] != 1 || pins[masked] != Pin::None) continue;
      const auto stays = [&](VarId v) { return settled[v] && before.vars[v].block == before.vars[op.out[0]].block; };
      if (!stays(masked) || !stays(sum->in[0]) || !stays(sum->in[1])) continue;
      op.in = {op.in[0], sum->in[0], sum->in[1]};
      gone[masked] = true;
    }
    std::erase_if(block.ops, [&](const Op& op) { return op.out.size() == 1 && gone[op.out[0]]; });
  }
  return program;
}

}  // namespace lethe
