// The product of two matrices, or of two equal stacks of them.
#pragma once
#include <cstdint>
#include <memory>

#include "framework/kernel.h"
#include "kernels/provider.h"

namespace lethe {

/// c[batch, m, n] = op(a) op(b) (+ bias[n] on every row), all row-major and dense; op(a) is m x k and op(b) k x n, and
/// a transposed operand stands in memory as k x m or n x k.
struct GemmShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool bias = false;
};

/// Inputs a, b and, with `bias`, bias; output c. f32 or f64. On a CPU the bits of the result depend on shape,
/// provider and number of threads alone.
std::unique_ptr<Kernel> prepare_gemm(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                     Provider provider = Provider::Best);

}  // namespace lethe
