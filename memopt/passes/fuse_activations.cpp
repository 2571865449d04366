#include "memopt/passes/fuse_activations.h"

#include "framework/op_def.h"

namespace lethe {
namespace {

/// How often each var is read, by ops and as the result of a block.
std::vector<int> reads_of(const Program& program) {
  std::vector<int> reads(program.vars.size());
  for (const Block& block : program.blocks) {
    for (const VarId v : block.results) ++reads[v];
    for (const Op& op : block.ops)
      for (const VarId v : op.in)
        if (v != kNone) ++reads[v];
  }
  return reads;
}

}  // namespace

Program fuse_activations(Program program, const std::vector<Pin>& pins) {
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
      if (op_def(op.type).activates && !op.attrs.has(kActivation)) maker[op.out[0]] = &op;
    }
  }
  return program;
}

}  // namespace lethe
