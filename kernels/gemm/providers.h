// The ways to compute a product; prepare_gemm chooses.
#pragma once
#include "kernels/gemm/gemm.h"

namespace lethe {

std::unique_ptr<Kernel> prepare_gemm_eigen(const GemmShape& shape, DType dtype, int threads);
/// f32 and bf16; null if oneDNN has but its slow reference for it, or code that multiplies tiles and is not to be taken
/// because `tiles` is false. Defined if oneDNN is built in.
std::unique_ptr<Kernel> prepare_gemm_onednn(const GemmShape& shape, DType dtype, int threads, bool tiles);
/// bf16 by the processor's tiles (kernels/tiles/dots.h); b may be f32, which is rounded. No epilogue but a
/// bias. Bits of an element depend on its row of a and its column of b alone.
std::unique_ptr<Kernel> prepare_gemm_on_tiles(const GemmShape& shape, int threads);
/// On the GPU that `device` is or describes. Defined if CUDA is built in.
std::unique_ptr<Kernel> prepare_gemm_cublaslt(const GemmShape& shape, DType dtype, const DeviceInfo& device);
/// bf16 and f16 on a CPU that does not multiply them: the products of a stack one by one in f32, the larger operand and
/// the result some rows or columns at a time.
std::unique_ptr<Kernel> prepare_gemm_widened(const GemmShape& shape, DType dtype, const DeviceInfo& device);

}  // namespace lethe
