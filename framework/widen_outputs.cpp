#include "framework/widen_outputs.h"

#include "framework/core_ops.h"
#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {
namespace {

/// By VarId: the var's id once those that are `gone` are left out.
std::vector<VarId> ids_without(const std::vector<bool>& gone) {
  std::vector<VarId> ids;
  VarId next = 0;
  for (const bool is_gone : gone) ids.push_back(is_gone ? kNone : next++);
  return ids;
}

void erase_vars(Program& program, const std::vector<bool>& gone, std::vector<ParamGrad>& gradients) {
  const std::vector<VarId> ids = ids_without(gone);
  const auto renumber = [&](std::vector<VarId>& vars) {
    for (VarId& v : vars)
      if (v != kNone) v = ids[v];
  };
  for (Block& block : program.blocks) {
    renumber(block.results);
    for (Op& op : block.ops) renumber(op.in), renumber(op.out);
  }
  for (ParamGrad& pair : gradients) pair = {ids[pair.param], ids[pair.grad]};
  std::vector<Var> vars;
  for (std::size_t v = 0; v < gone.size(); ++v)
    if (!gone[v]) vars.push_back(std::move(program.vars[v]));
  program.vars = std::move(vars);
  program.names = {};  // they know of the vars as they were
}

}  // namespace

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
