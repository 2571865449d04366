// Products by a weight that is frozen in fewer bits than they compute in: in bf16 or f16 under f32, or in blocks of few
// bits (framework/language/block_formats.h). Some of its rows at a time, so that on a CPU they are widened while they
// are in the cache, and no whole copy stands in memory; but products in bf16 and f16 on a CPU widen all of it at once.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

/// Whether the weight is a parameter in fewer bits, which a product in `dtype` widens.
inline bool is_widened(const Var& weight, DType dtype) {
  if (weight.kind != Kind::Param || weight.dtype == dtype) return false;
  return is_in_blocks(weight.dtype) || wide_of(weight.dtype) == dtype;
}

/// Whether prepare_weight_product takes a b of this other dtype, if that is a parameter: one in blocks, in any dtype
/// but f64; on a CPU in f32 one that it widens, in bf16 and f16 an f32 one that it rounds (column_blocks.h). The bits
/// are those of a copy.
bool converts_weight(const GemmShape& shape, DType dtype, DType of_weight);
/// Whether it takes this one for b, as it is or so converted.
bool takes_weight(const GemmShape& shape, DType dtype, const Var& weight);

/// As prepare_gemm, of a, bias and c in `dtype` and of b in `of_weight`. `in_blocks` (kWeightBlocks) says that b may be
/// a copy of a weight in fewer bits: then the bits are those of the product that widens it.
std::unique_ptr<Kernel> prepare_weight_product(const GemmShape& shape, DType dtype, DType of_weight, bool in_blocks,
                                               const DeviceInfo& device);

}  // namespace lethe
