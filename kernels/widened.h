// Products and convolutions of bf16 or f16 on the CPU: in f32, a part at a time, so that the wide copies stay small.
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/gemm/gemm.h"

namespace lethe {

/// The products of a stack one by one, their matrices whole.
std::unique_ptr<Kernel> prepare_gemm_widened(const GemmShape& shape, DType dtype, const DeviceInfo& device);
/// A few images at a time; weight gradients are summed in f32.
std::unique_ptr<Kernel> prepare_conv_widened(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                             const DeviceInfo& device);

}  // namespace lethe
