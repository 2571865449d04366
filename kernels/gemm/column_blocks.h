// Products of low floats by a large b, such as a weight: some columns of op(b) at a time. b may be f32 then: a block of
// it is rounded while it is in the cache, and a whole copy never stands in memory.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

/// Whether prepare_gemm computes a product in blocks on a CPU, b being f32 or of the dtype of a: the bits are the same.
/// It is of low floats and dense matrices, a is not transposed, nothing is added to c; op(b) has more columns than a
/// block, and what they give of c is small as well.
bool is_in_column_blocks(const GemmShape& shape, DType dtype);

/// Such a product. b is f32 if GemmShape::wide_b says so.
std::unique_ptr<Kernel> prepare_gemm_in_column_blocks(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                                      Provider provider);

}  // namespace lethe
