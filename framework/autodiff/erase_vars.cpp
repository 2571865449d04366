#include "framework/autodiff/erase_vars.h"

namespace lethe {
namespace {

/// By VarId: the var's id once those that are `gone` are left out.
std::vector<VarId> ids_without(const std::vector<bool>& gone) {
  std::vector<VarId> ids;
  VarId next = 0;
  for (const bool is_gone : gone) ids.push_back(is_gone ? kNone : next++);
  return ids;
}

}  // namespace

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

}  // namespace lethe
