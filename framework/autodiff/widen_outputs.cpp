#include "framework/autodiff/widen_outputs.h"

#include <map>

#include "framework/autodiff/erase_vars.h"
#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"
#include "framework/language/reads.h"

namespace lethe {

namespace {

bool widens(const Program& program, const Op& op) {
  if (op.type != kCast || op.role != Role::Backward) return false;
  const DType from = program.vars[op.in[0]].dtype, to = program.vars[op.out[0]].dtype;
  return from != to && wide_of(from) == to;
}

}  // namespace

void keep_narrow(Program& program, std::vector<ParamGrad>& gradients) {
  std::vector<int> reads = reads_of(program);
  for (const ParamGrad& pair : gradients) ++reads[pair.grad];
  std::map<VarId, ParamGrad*> wide;
  for (ParamGrad& pair : gradients)
    if (reads[pair.grad] == 1 && program.vars[pair.grad].shape.size() > 1) wide[pair.grad] = &pair;
  std::vector<bool> gone(program.vars.size());
  std::erase_if(program.blocks[0].ops, [&](const Op& op) {
    if (!widens(program, op) || reads[op.in[0]] > 1) return false;
    const auto found = wide.find(op.out[0]);
    if (found == wide.end()) return false;
    gone[op.out[0]] = true;
    found->second->grad = op.in[0];
    std::swap(program.vars[op.in[0]].name, program.vars[op.out[0]].name);
    return true;
  });
  erase_vars(program, gone, gradients);
}

void widen_outputs(Program& program, std::vector<ParamGrad>& gradients) {
  std::vector<int> reads = reads_of(program);
  for (const ParamGrad& pair : gradients) ++reads[pair.grad];
  std::vector<bool> gone(program.vars.size());
  for (Block& block : program.blocks) {
    std::vector<int> maker(program.vars.size(), -1);  // by VarId: which of `kept` has it as output 0
    std::vector<Op> kept;
    for (Op& op : block.ops) {
      const int made_by = widens(program, op) && reads[op.in[0]] == 1 ? maker[op.in[0]] : -1;
      if (made_by >= 0 && op_def(kept[made_by].type).widens) {
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
