#include "framework/language/erase_vars.h"

namespace lethe {

std::vector<VarId> erase_vars(Program& program, const std::vector<bool>& gone) {
  std::vector<VarId> ids;
  std::vector<Var> vars;
  for (std::size_t v = 0; v < gone.size(); ++v) {
    ids.push_back(gone[v] ? kNone : static_cast<VarId>(vars.size()));
    if (!gone[v]) vars.push_back(std::move(program.vars[v]));
  }
  program.vars = std::move(vars);
  program.names = {};  // they know of the vars as they were
  const auto renumber = [&](std::vector<VarId>& of) {
    for (VarId& v : of)
      if (v != kNone) v = ids[v];
  };
  for (Block& block : program.blocks) {
    renumber(block.results);
    for (Op& op : block.ops) renumber(op.in), renumber(op.out);
  }
  return ids;
}

}  // namespace lethe
