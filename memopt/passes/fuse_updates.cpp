#include "memopt/passes/fuse_updates.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"
#include "memopt/analysis/makers.h"

namespace lethe {

Program fuse_updates(Program program, const std::vector<Pin>& pins) {
  const Program before = program;
  const std::vector<int> reads = reads_of(before);
  const std::vector<const Op*> maker = sole_makers(before);
  const std::vector<bool> settled = settled_vars(before);
  const std::vector<VarId> root = view_root(before);
  const auto stays = [&](VarId v) {
    return v == kNone || ((settled[v] || before.vars[root[v]].kind == Kind::Input) && before.vars[v].block == 0);
  };
  std::vector<bool> gone(program.vars.size());  // by VarId: what the products gave
  std::vector<Op>& ops = program.blocks[0].ops;
  for (Op& op : ops) {
    const int slot = op_def(op.type).gradient;
    if (slot < 0 || op.attrs.has(kRanks)) continue;
    const VarId g = op.in[slot];
    const Op* const made = maker[g];
    if (!made || !op_def(made->type).into_update || reads[g] != 1 || pins[g] != Pin::None || before.vars[g].block != 0)
      continue;
    if (!std::all_of(made->in.begin(), made->in.end(), stays)) continue;
    std::optional<Op> instead = op_def(made->type).into_update(before, *made, op);
    if (!instead) continue;
    op = std::move(*instead);
    gone[g] = true;
  }
  std::erase_if(ops, [&](const Op& op) { return op.out.size() == 1 && gone[op.out[0]]; });
  return program;
}

}  // namespace lethe
