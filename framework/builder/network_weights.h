// What of a network stands in files of weights.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

/// Parameters and running statistics; whole numbers, as the step counter, belong to the run.
inline std::vector<ParamInfo> weights_of(const Network& network) {
  std::vector<ParamInfo> weights;
  for (const ParamInfo& info : network.params)
    if (const DType dtype = network.program.vars[info.var].dtype; is_float(dtype) || is_in_blocks(dtype))
      weights.push_back(info);
  return weights;
}

/// The names of the parameters of adapters.
inline std::set<std::string> adapter_params(const Network& network) {
  std::set<std::string> names;
  for (const Adapter& adapter : network.adapters) names.insert({adapter.a, adapter.b});
  return names;
}

/// weights_of() without these: what a file of the network that they are beside has.
inline std::vector<ParamInfo> base_weights_of(const Network& network) {
  std::vector<ParamInfo> weights = weights_of(network);
  const std::set<std::string> adapters = adapter_params(network);
  std::erase_if(weights, [&](const ParamInfo& w) { return adapters.contains(network.program.vars[w.var].name); });
  return weights;
}

}  // namespace lethe
