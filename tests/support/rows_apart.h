// A kernel on parts of wider vars: the rows of its operands lie apart.
#pragma once
#include "framework/language/strides.h"
#include "tests/support/interpreter.h"

namespace lethe::testing {

/// Calls f(address, bytes) for each row of a var, or once if there are no gaps.
template <class F>
void for_each_row(const Var& var, std::byte* begin, const F& f) {
  if (var.pitch == 0) return f(begin, static_cast<std::size_t>(bytes_of(var)));
  const std::int64_t row = row_of(var.shape), size = bytes_of(var.dtype);
  for (std::int64_t r = 0; r < elements(var.shape) / row; ++r)
    f(begin + r * var.pitch * size, static_cast<std::size_t>(row * size));
}

/// Elements between the rows of each input and of each output; 0: they lie side by side.
struct Gaps {
  std::int64_t in = 0, out = 0;
};

/// As try_op(), by a kernel that is prepared for such rows; its outputs are given side by side. What is written into a
/// gap is harm.
Trial try_rows_apart(const Interpreter& values, const Op& op, PrepareKernel prepare, const DeviceInfo& device,
                     Gaps gaps);

}  // namespace lethe::testing
