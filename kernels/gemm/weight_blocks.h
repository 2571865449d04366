// Products in f32 by a weight that is frozen in bf16 or f16: some of its rows in memory at a time. So a block of it is
// widened while it is in the cache, and a whole copy in f32 never stands in memory.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

/// Whether the weight is a parameter in fewer bits, which a product in `dtype` widens.
inline bool is_widened(const Var& weight, DType dtype) {
  return weight.kind == Kind::Param && weight.dtype != dtype && wide_of(weight.dtype) == dtype;
}

/// Whether prepare_weight_product takes a b of another dtype on a CPU, if that is a parameter: in f32 one that it
/// widens, in bf16 and f16 an f32 one that it rounds (column_blocks.h). The bits are those of a copy.
bool converts_weight(const GemmShape& shape, DType dtype);
/// Whether it takes this one for b, as it is or so converted.
bool takes_weight(const GemmShape& shape, DType dtype, const Var& weight);

/// As prepare_gemm, of a, bias and c in `dtype` and of b in `of_weight`. `in_blocks` (kWeightBlocks) says for f32 on a
/// CPU that b may be a copy of a weight in fewer bits: then the bits are those of the product that widens it.
std::unique_ptr<Kernel> prepare_weight_product(const GemmShape& shape, DType dtype, DType of_weight, bool in_blocks,
                                               const DeviceInfo& device);

}  // namespace lethe
