// One layer without parameters on the CPU, from values to values.
#pragma once
#include "framework/builder/builder.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_op.h"

namespace lethe::testing {

/// What it makes of samples. Both are as they stand in memory: images as [N, H, W, C].
inline Tensor run_layer(const std::string& layer, const Tensor& samples, const Attrs& settings) {
  Builder net({.batch = samples.shape[0], .dtype = DType::f64, .training = false});
  const VarId x = net.input("x", Shape(samples.shape.begin() + 1, samples.shape.end()));
  const VarId y = net.layer(layer, x, settings);
  Interpreter values(net.program());
  for (std::size_t i = 0; i < samples.values.size(); ++i)
    values.set(x, static_cast<std::int64_t>(i), samples.values[i]);
  values.run();
  Tensor result{net.shape(y), {}};
  for (std::int64_t i = 0; i < elements(result.shape); ++i) result.values.push_back(values.number(y, i));
  return result;
}

}  // namespace lethe::testing
