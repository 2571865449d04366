// The product of two matrices, or of two equal stacks of them.
#pragma once
#include <cstdint>
#include <memory>

#include "kernels/gemm/epilogue.h"
#include "kernels/provider.h"

namespace lethe {

/// c[batch, m, n] = op(a) op(b), then the epilogue, a bias[n] for every row or x[m, n]; all row-major; op(a) is m x k
/// and op(b) k x n, and a transposed operand stands in memory as k x m or n x k.
struct GemmShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  Epilogue epilogue = {};
  bool wide_b = false;      // b is f32 where a is bf16 or f16: see column_blocks.h
  bool wide_c = false;      // c is f32 where a and b are bf16 or f16; without epilogue
  bool accumulate = false;  // c += instead; without epilogue
  // The sums of op(a) over k, [m], go to output 1, in c's dtype. a is then a dense matrix, transposed; no epilogue.
  bool sums_a = false;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  // of rows in memory; 0: dense. With one a stack has 1 entry
  bool unaligned = false;  // on a GPU they may begin at any element, not at kGpuAlignment alone

  bool is_dense() const { return stride_a == 0 && stride_b == 0 && stride_c == 0; }
  // Distances of rows in memory.
  std::int64_t row_a() const { return stride_a > 0 ? stride_a : transpose_a ? m : k; }
  std::int64_t row_b() const { return stride_b > 0 ? stride_b : transpose_b ? k : n; }
  std::int64_t row_c() const { return stride_c > 0 ? stride_c : n; }
};

/// Whether cuBLASLt gives sums_a and gelu_grad on the way of a product of `dtype`.
inline bool gives_gradients_on_the_way(DType dtype) { return wide_of(dtype) != dtype; }

inline EpilogueRows rows_of_c(const GemmShape& s) { return {s.batch * s.m, s.n, s.row_c() - s.n}; }

/// In a product of operands of `dtype`.
inline DType dtype_of_c(const GemmShape& shape, DType dtype) { return shape.wide_c ? wide_of(dtype) : dtype; }

/// Null if there is sums_a, and whoever multiplies does not give these on the way.
/// Inputs a, b and what the epilogue takes; output c, and the sums. Any float dtype, sums in f32 at least. On a CPU the
/// bits of the result depend on shape, provider and number of threads alone.
std::unique_ptr<Kernel> prepare_gemm(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                     Provider provider = Provider::Best);

}  // namespace lethe
