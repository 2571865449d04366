// A kernel on parts of wider vars: the rows of its operands lie apart.
#pragma once
#include "tests/support/interpreter.h"

namespace lethe::testing {

/// Elements between the rows of each input and of each output; 0: they lie side by side.
struct Gaps {
  std::int64_t in = 0, out = 0;
};

/// As try_op(), by a kernel that is prepared for such rows; its outputs are given side by side. What is written into a
/// gap is harm.
Trial try_rows_apart(const Interpreter& values, const Op& op, PrepareKernel prepare, const DeviceInfo& device,
                     Gaps gaps);

}  // namespace lethe::testing
