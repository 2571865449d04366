// Initial values of a parameter or a state, as a Store has them.
#pragma once
#include <vector>

#include "framework/language/init.h"
#include "framework/language/quantize.h"

namespace lethe::testing {

/// `memory`: the var's bytes.
inline void fill_param(const Init& init, const Var& var, void* memory) {
  const std::int64_t count = elements(var.shape);
  if (!is_in_blocks(var.dtype)) return fill_initial(init, 1, var.name, var.dtype, count, memory);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  fill_initial(init, 1, var.name, DType::f32, count, numbers.data());
  Quantizer quantizer(var.dtype, var.shape, static_cast<std::byte*>(memory));
  quantizer.add(numbers.data(), count);
  quantizer.finish();
}

}  // namespace lethe::testing
