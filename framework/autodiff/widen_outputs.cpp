#include "framework/autodiff/widen_outputs.h"

#include "framework/autodiff/erase_vars.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/language/reads.h"

namespace lethe {

void widen_outputs(Program& program, std::vector<ParamGrad>& gradients) {
  std::vector<int> reads = reads_of(program);
  for (const ParamGrad& pair : gradients) ++reads[pair.grad];
  std::vector<bool> gone(program.vars.size());
  const auto dtype = [&](VarId v) { return program.vars[v].dtype; };
  for (Block& block : program.blocks) {
    std::vector<int> maker(program.vars.size(), -1);  // by VarId: which of `kept` has it as output 0
    std::vector<Op> kept;
    for (Op& op : block.ops) {
      const bool is_cast = op.type == kCast && op.role == Role::Backward;
      const int made_by = is_cast && reads[op.in[0]] == 1 ? maker[op.in[0]] : -1;
      if (made_by >= 0 && op_def(kept[made_by].type).widens && dtype(op.in[0]) != dtype(op.out[0]) &&
          wide_of(dtype(op.in[0])) == dtype(op.out[0])) {
        gone[op.in[0]] = true;
        kept[made_by].out[0] = op.out[0];
        kept[made_by].attrs.set(kWideOutput, true);
        continue;
      }
      if (!op.out.empty()) maker[op.out[0]] = static_cast<int>(kept.size());
      kept.push_back(std::move(op));
    }
    block.ops = std::move(kept);
  }
  erase_vars(program, gone, gradients);
}

}  // namespace lethe
