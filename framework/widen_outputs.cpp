#include "framework/widen_outputs.h"

#include "framework/core_ops.h"
#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {

void widen_outputs(Program& program, const std::vector<VarId>& results) {
  std::vector<int> reads = reads_of(program);
  for (const VarId v : results) ++reads[v];
  const auto dtype = [&](VarId v) { return program.vars[v].dtype; };
  for (Block& block : program.blocks) {
    std::vector<int> maker(program.vars.size(), -1);  // by VarId: the op of the block that makes it
    std::vector<Op> kept;
    for (Op& op : block.ops) {
      const bool is_cast = op.type == kCast && op.role == Role::Backward;
      const int made_by = is_cast && reads[op.in[0]] == 1 ? maker[op.in[0]] : -1;
      if (made_by >= 0 && op_def(kept[made_by].type).widens && dtype(op.in[0]) != dtype(op.out[0]) &&
          wide_of(dtype(op.in[0])) == dtype(op.out[0])) {
        kept[made_by].out[0] = op.out[0];
        kept[made_by].attrs.set(kWideOutput, true);
        continue;
      }
      for (const VarId v : op.out) maker[v] = static_cast<int>(kept.size());
      kept.push_back(std::move(op));
    }
    block.ops = std::move(kept);
  }
}

}  // namespace lethe
