// What of a network stands in files of weights.
#pragma once
#include <vector>

#include "framework/builder/network.h"

namespace lethe {

/// Parameters and running statistics; whole numbers, as the step counter, belong to the run.
inline std::vector<ParamInfo> weights_of(const Network& network) {
  std::vector<ParamInfo> weights;
  for (const ParamInfo& info : network.params)
    if (is_float(network.program.vars[info.var].dtype)) weights.push_back(info);
  return weights;
}

/// The same without the parameters of adapters: what a file of the network that they are beside has.
inline std::vector<ParamInfo> base_weights_of(const Network& network) {
  std::vector<ParamInfo> weights = weights_of(network);
  for (const Adapter& adapter : network.adapters)
    std::erase_if(weights, [&](const ParamInfo& info) {
      const std::string& name = network.program.vars[info.var].name;
      return name == adapter.a || name == adapter.b;
    });
  return weights;
}

}  // namespace lethe
