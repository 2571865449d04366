#include "framework/builder/network_part.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/error.h"
#include "framework/language/erase_vars.h"

namespace lethe {
namespace {

/// Takes the other ops of the first block away, and the vars that nothing touches then. Gives the id that each var has
/// now, kNone for what is gone.
std::vector<VarId> keep(const std::vector<bool>& needed, Program& program) {
  std::size_t i = 0;
  std::erase_if(program.blocks[0].ops, [&](const Op&) { return !needed[i++]; });
  std::vector<bool> gone(program.vars.size(), true);
  const auto touch = [&](const std::vector<VarId>& vars) {
    for (const VarId var : vars)
      if (var != kNone) gone[var] = false;
  };
  for (const Block& block : program.blocks) {
    touch(block.results);
    for (const Op& op : block.ops) touch(op.in), touch(op.out);
  }
  return erase_vars(program, gone);
}

/// What names parameters that are gone is passed over.
WeightNames without(WeightNames names, const std::vector<std::string>& gone) {
  for (auto* list : {&names.weights, &names.again})
    std::erase_if(*list, [&](const ForeignWeight& weight) {
      const bool is_gone = std::ranges::count(gone, weight.param) > 0;
      if (is_gone) names.passed_over.insert(names.passed_over.end(), weight.tensors.begin(), weight.tensors.end());
      return is_gone;
    });
  return names;
}

}  // namespace

std::vector<bool> needed_for(const Program& program, const std::vector<VarId>& vars) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  std::vector<bool> wanted(program.vars.size()), needed(ops.size());
  for (const VarId var : vars) wanted[var] = true;
  for (std::size_t i = ops.size(); i-- > 0;) {
    needed[i] = !ops[i].blocks.empty() || std::ranges::any_of(ops[i].out, [&](VarId out) { return wanted[out]; });
    if (!needed[i]) continue;
    for (const VarId in : ops[i].in)
      if (in != kNone) wanted[in] = true;
  }
  return needed;
}

Network embedding_of(const Network& network) {
  check(network.embedding != kNone, network.name, ": its network file names no \"embedding\"");
  Network part;
  part.name = network.name;
  part.program = network.program;
  const std::vector<VarId> now = keep(needed_for(network.program, {network.embedding}), part.program);
  part.embedding = now[network.embedding];
  part.outputs = {part.embedding};
  for (const VarId input : network.inputs)
    if (now[input] != kNone) part.inputs.push_back(now[input]);
  for (ParamInfo info : network.params)
    if (info.var = now[info.var]; info.var != kNone) part.params.push_back(info);
  for (const auto& [var, layout] : network.layouts)
    if (now[var] != kNone) part.layouts[now[var]] = layout;
  for (const ParamInfo& info : weights_of(network))
    if (now[info.var] == kNone) part.left_out.push_back(network.program.vars[info.var].name);
  for (const Adapter& adapter : network.adapters)
    if (find_var(part.program, adapter.a) != kNone) part.adapters.push_back(adapter);
  for (const WeightNames& names : network.weight_names) part.weight_names.push_back(without(names, part.left_out));
  return part;
}

}  // namespace lethe
