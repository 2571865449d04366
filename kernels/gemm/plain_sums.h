// The gradient of a bias beside that of a weight, where what multiplies does not give it.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

/// GemmShape::sums_a in a pass of its own after a product that leaves it to us; the product as it is without sums_a.
std::unique_ptr<Kernel> with_plain_sums(std::unique_ptr<Kernel> product, const GemmShape& shape, DType dtype,
                                        const DeviceInfo& device);

}  // namespace lethe
