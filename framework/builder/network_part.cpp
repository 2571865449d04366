#include "framework/builder/network_part.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/error.h"

namespace lethe {
namespace {

/// Keeps ops of the first block, and the vars that are read or written then, in their order.
class Cut {
 public:
  explicit Cut(const Program& whole, const std::vector<bool>& needed)
      : program_(whole), now_(whole.vars.size(), kNone) {
    std::vector<Op>& ops = program_.blocks[0].ops;
    std::size_t i = 0;
    std::erase_if(ops, [&](const Op&) { return !needed[i++]; });
    std::vector<bool> used(whole.vars.size());
    each_id([&](VarId& var) { used[static_cast<std::size_t>(var)] = true; });
    program_.vars.clear();
    for (std::size_t var = 0; var < used.size(); ++var) {
      if (!used[var]) continue;
      now_[var] = static_cast<VarId>(program_.vars.size());
      program_.vars.push_back(whole.vars[var]);
    }
    each_id([&](VarId& var) { var = now(var); });
  }

  const Program& program() const { return program_; }
  /// The id of a var of the whole program, kNone if it is gone.
  VarId now(VarId var) const { return now_[static_cast<std::size_t>(var)]; }

 private:
  template <class Use>
  void each_id(const Use& use) {
    const auto each = [&](std::vector<VarId>& vars) {
      for (VarId& var : vars)
        if (var != kNone) use(var);
    };
    for (Block& block : program_.blocks) {
      each(block.results);
      for (Op& op : block.ops) each(op.in), each(op.out);
    }
  }

  Program program_;
  std::vector<VarId> now_;
};

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
  const Cut cut(network.program, needed_for(network.program, {network.embedding}));
  Network part;
  part.name = network.name;
  part.program = cut.program();
  part.embedding = cut.now(network.embedding);
  part.outputs = {part.embedding};
  for (const VarId input : network.inputs)
    if (cut.now(input) != kNone) part.inputs.push_back(cut.now(input));
  for (ParamInfo info : network.params)
    if (info.var = cut.now(info.var); info.var != kNone) part.params.push_back(info);
  for (const auto& [var, layout] : network.layouts)
    if (cut.now(var) != kNone) part.layouts[cut.now(var)] = layout;
  for (const ParamInfo& info : weights_of(network))
    if (cut.now(info.var) == kNone) part.left_out.push_back(network.program.vars[info.var].name);
  for (const WeightNames& names : network.weight_names) part.weight_names.push_back(without(names, part.left_out));
  return part;
}

}  // namespace lethe
