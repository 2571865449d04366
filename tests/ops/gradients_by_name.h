// Gradients of a network's parameters as numbers.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/network.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {

/// Each by the name of its parameter. Parameters begin with the same values, inputs are whole numbers below `ids`.
inline std::map<std::string, std::vector<double>> gradients_by_name(Network network, std::int64_t ids) {
  const std::vector<ParamGrad> gradients = append_backward(network.program, network.loss);
  Interpreter values(network.program);
  for (const ParamInfo& info : network.params) values.fill_uniform(info.var, -1, 1, 1);
  for (const VarId input : network.inputs)
    values.fill_uniform(input, 0, static_cast<double>(ids), static_cast<std::uint64_t>(input));
  values.run();
  std::map<std::string, std::vector<double>> all;
  for (const ParamGrad& pair : gradients)
    for (std::int64_t i = 0; i < elements(network.program.vars[pair.grad].shape); ++i)
      all[network.program.vars[pair.param].name].push_back(values.number(pair.grad, i));
  return all;
}

}  // namespace lethe::testing
