#include "framework/builder/weights_named.h"

#include <algorithm>

#include "framework/builder/network_weights.h"
#include "framework/did_you_mean.h"
#include "framework/error.h"
#include "framework/name_pattern.h"

namespace lethe {
namespace {

/// A weight under one set of names.
struct NamedWeight {
  VarId var = kNone;
  std::vector<std::string> names = {};  // of the tensors that make it up
  std::string prefix = {};              // which they may have or lack
};

std::vector<NamedWeight> named_weights(const Network& network) {
  std::vector<NamedWeight> all;
  for (const ParamInfo& info : weights_of(network))
    all.push_back({.var = info.var, .names = {network.program.vars[info.var].name}});
  for (const WeightNames& library : network.weight_names)
    for (const auto* list : {&library.weights, &library.again})
      for (const ForeignWeight& weight : *list)
        all.push_back(
            {.var = find_var(network.program, weight.param), .names = weight.tensors, .prefix = library.prefix});
  return all;
}

}  // namespace

std::set<VarId> weights_named(const Network& network, const std::string& patterns, const std::string& setting) {
  const std::vector<NamedWeight> weights = named_weights(network);
  std::set<VarId> vars;
  for (const std::string& pattern : patterns_given(patterns, setting)) {
    bool found = false;
    std::vector<std::string> known;
    for (const NamedWeight& weight : weights) {
      const auto is_meant = [&](const std::string& name) {
        return matches(pattern, name) || matches(pattern, prefix_turned(name, weight.prefix));
      };
      const std::ptrdiff_t meant = std::ranges::count_if(weight.names, is_meant);
      for (const std::string& name : weight.names) known.insert(known.end(), {name, layer_pattern(name)});
      if (meant == 0) continue;
      check(meant == std::ssize(weight.names), setting, ": ", quote(pattern), " means a part of the parameter ",
            quote(network.program.vars[weight.var].name), ", which ", joined(weight.names), " make up");
      found = true;
      vars.insert(weight.var);
    }
    check(found, setting, ": no parameter is called ", quote(pattern), did_you_mean(pattern, known));
  }
  return vars;
}

}  // namespace lethe
