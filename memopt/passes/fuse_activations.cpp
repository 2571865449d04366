#include "memopt/passes/fuse_activations.h"

#include "framework/reads.h"
#include "memopt/analysis/activates.h"

namespace lethe {
Program fuse_activations(Program program, const std::vector<Pin>& pins, DeviceKind device) {
  const std::vector<int> reads = reads_of(program);
  for (Block& block : program.blocks) {
    std::vector<Op*> maker(program.vars.size());  // by VarId, in this block: who could activate it
    for (Op& op : block.ops) {
      Op* const made = op_def(op.type).activation ? maker[op.in[0]] : nullptr;
      if (made && reads[op.in[0]] == 1 && pins[op.in[0]] == Pin::None && program.vars[op.out[0]].pitch == 0) {
        made->attrs.set(kActivation, op.type);
        op.type = kReshape;
        op.attrs = {{"shape", program.vars[op.in[0]].shape}};
      }
      if (activates_on(op_def(op.type), device) && !op.attrs.has(kActivation)) maker[op.out[0]] = &op;
    }
  }
  return program;
}

}  // namespace lethe
