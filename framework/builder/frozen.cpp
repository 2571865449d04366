#include "framework/builder/frozen.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/builder/weights_named.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "framework/name_pattern.h"

namespace lethe {
namespace {

/// Why the parameter cannot be in that dtype; "" if it can.
std::string why_not_in(DType dtype, const Network& network, VarId param) {
  if (!is_in_blocks(dtype)) return "";
  const auto info = std::ranges::find(network.params, param, &ParamInfo::var);
  if (info->layout.kind != FileLayout::Same)
    return message("files have it in another order than memory, which no ", name_of(dtype), " is for");
  return complaint_about_blocks(dtype, network.program.vars[param].shape);
}

bool is_matrix(const Network& network, VarId v) {
  const Var& var = network.program.vars[v];
  return var.kind == Kind::Param && var.shape.size() > 1;
}

/// Of weights none of which is a frozen matrix.
std::string why_unchanged(const Network& network, const std::set<VarId>& meant) {
  const auto trained = std::ranges::find_if(meant, [&](VarId v) { return is_matrix(network, v); });
  if (trained != meant.end()) return message(quote(network.program.vars[*trained].name), " is trained, not frozen");
  return message(quote(network.program.vars[*meant.begin()].name), " is no parameter of two axes or more");
}

std::string layer_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// Layers that have parameters, by their paths.
std::set<std::string> layers_with_params(const Network& network) {
  std::set<std::string> layers;
  for (const ParamInfo& info : network.params)
    if (const Var& var = network.program.vars[info.var]; var.kind == Kind::Param) layers.insert(layer_of(var.name));
  return layers;
}

}  // namespace

std::set<std::string> frozen_but(const Network& network, const std::set<VarId>& trained) {
  const std::set<std::string> with_params = layers_with_params(network);
  std::set<std::string> frozen;
  for (const ParamInfo& info : weights_of(network)) {
    const Var& var = network.program.vars[info.var];
    const bool by_itself = var.kind == Kind::Param || !with_params.contains(layer_of(var.name));
    if (!trained.contains(info.var) && by_itself) frozen.insert(var.name);
  }
  return frozen;
}

std::set<std::string> frozen_names(const Network& network, const FrozenSetting& setting) {
  check(setting.freeze.empty() || setting.train_only.empty(), "`freeze` and `train_only` exclude each other");
  const bool by_rest = setting.freeze.empty();
  const char* const name = by_rest ? "`train_only`" : "`freeze`";
  const std::set<VarId> meant = weights_named(network, by_rest ? setting.train_only : setting.freeze, name);
  std::set<std::string> frozen;
  if (by_rest) frozen = frozen_but(network, meant);
  if (!by_rest)
    for (const VarId v : meant) frozen.insert(network.program.vars[v].name);
  check(std::ranges::any_of(network.params,
                            [&](const ParamInfo& info) {
                              const Var& var = network.program.vars[info.var];
                              return var.kind == Kind::Param && !frozen.contains(var.name);
                            }),
        name, ": no parameter is left to train");
  return frozen;
}

std::vector<FrozenType> frozen_types(const std::string& text) {
  std::vector<FrozenType> types;
  for (const std::string& item : patterns_in(text)) {
    const std::size_t equals = item.rfind('=');
    FrozenType of{.pattern = equals == std::string::npos ? "*" : item.substr(0, equals),
                  .type = equals == std::string::npos ? item : item.substr(equals + 1)};
    of.may_be_trained = of.type.ends_with('?');
    if (of.may_be_trained) of.type.pop_back();
    types.push_back(std::move(of));
  }
  return types;
}

std::string complaint_about_frozen_types(const std::string& text) {
  static const std::vector<std::string> known = {"f32",  "bf16", "f16", "int8",   "q8_0",
                                                 "q4_0", "q4_1", "nf4", "nf4-dq", kStoredType};
  for (const auto& [pattern, type, _] : frozen_types(text))
    if (pattern.empty() || std::ranges::find(known, type) == known.end())
      return message("unknown type ", quote(type), did_you_mean(type, known), "; known: ", joined(known),
                     ", also by names, as 'tokens.*=q8_0,*=nf4-dq'");
  return "";
}

std::map<std::string, DType> frozen_dtypes(const Network& network, const std::string& types,
                                           const std::set<std::string>& frozen) {
  std::map<std::string, DType> dtypes;
  for (const auto& [pattern, type, may_be_trained] : frozen_types(types)) {
    check(type != kStoredType, "`frozen_dtype`: ", kStoredType, " is for commands that read `weights`");
    const DType dtype = dtype_named(type);
    const std::set<VarId> meant = weights_named(network, pattern, "`frozen_dtype`");
    const auto takes = [&](VarId v) { return is_matrix(network, v) && frozen.contains(network.program.vars[v].name); };
    if (!frozen.empty() && !may_be_trained && pattern != "*" && std::ranges::none_of(meant, takes))
      fail("`frozen_dtype`: ", quote(message(pattern, '=', type)), " changes nothing: ", why_unchanged(network, meant));
    for (const VarId v : meant) {
      const Var& var = network.program.vars[v];
      if (!takes(v)) continue;
      if (!dtypes.emplace(var.name, dtype).second) continue;
      const std::string complaint = why_not_in(dtype, network, v);
      check(complaint.empty(), "`frozen_dtype`: ", quote(var.name), ": ", complaint, "; '", var.name, "=bf16,", types,
            "' leaves it out");
    }
  }
  return dtypes;
}

std::set<VarId> still_weights(const Network& network) {
  std::set<VarId> still = network.frozen;
  for (const ParamInfo& info : weights_of(network))
    if (network.program.vars[info.var].kind == Kind::State) still.insert(info.var);
  for (const Block& block : network.program.blocks)
    for (const Op& op : block.ops)
      for (const VarId v : op.out) still.erase(v);
  return still;
}

std::vector<std::string> frozen_params(const Network& network) {
  std::vector<std::string> names;
  for (const VarId v : network.frozen) names.push_back(network.program.vars[v].name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace lethe
