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

}  // namespace lethe
