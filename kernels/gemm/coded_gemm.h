// Products of few rows, in bf16 and f16, by a frozen weight in few bits on a GPU. A product of our own decodes the
// weight on the way (kernels/quantized/coded_product.h), so that none of its numbers are written and read again, and no
// memory is taken for them. With many rows these passes are little beside a product, and cuBLASLt's should be faster.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

/// Whether a product is such a one, by its shape alone, whether it reads the weight or a copy of it in `dtype`.
bool is_coded_product(const GemmShape& shape, DType dtype, DeviceKind kind);

/// One of these. The weight is in blocks, or a copy in `dtype`: the bits are the same.
std::unique_ptr<Kernel> prepare_coded_product(const GemmShape& shape, DType dtype, DType of_weight,
                                              const DeviceInfo& device);

}  // namespace lethe
