// The algorithms for a convolution; prepare_conv chooses.
#pragma once
#include "kernels/conv/conv.h"
#include "kernels/trials.h"

namespace lethe {

/// Of any algorithm, its inputs in the order in which the pass takes them; with a bias.
Operands operands_of(ConvPass pass, const ConvShape& shape, DType dtype);

/// Columns of the image, a few output rows at a time, times the weights by Eigen.
std::unique_ptr<Kernel> prepare_conv_im2col(ConvPass pass, const ConvShape& shape, bool bias, DType dtype, int threads);
/// Whether oneDNN computes a convolution of f32 or bf16 rightly. Version 2.6.3 writes beside its scratch memory for
/// weight gradients of 1x1 kernels that have a stride over fewer channels than a vector holds (AVX2: 8). In bf16 it
/// also reads memory that nobody wrote for weight gradients of images narrower than the stride, and gives wrong input
/// gradients of 1x1 kernels of an odd number of filters (of 30 pixels, 60...). tests/sweeps/onednn.cpp holds the rules,
/// and what they leave out, against f64.
bool is_trusted(ConvPass pass, const ConvShape& shape, DType dtype);
/// Whether it does so by AMX. Of that code some more is wrong: weight gradients of images that are little wider than a
/// stride, and of dilated kernels over channels that are no multiple of 16; and forward where a stride goes beyond the
/// kernel.
bool is_trusted_with_tiles(const ConvShape& shape);
/// f32 and bf16; null if oneDNN has but its slow reference for it, or code that multiplies tiles and is not to be taken
/// because `tiles` is false. Defined if oneDNN is built in.
std::unique_ptr<Kernel> prepare_conv_onednn(ConvPass pass, const ConvShape& shape, bool bias, DType dtype, int threads,
                                            bool tiles);
/// f32 as three products of bf16: forward and the input's gradient, of stride 1, without dilation and groups, from 16
/// channels on, with sums of 256 terms or more, and by 1x1 kernels to 192 channels at least; else null. By AMX; where
/// that is missing by what stands for it in tests, slowly. What is not finite makes NaN of what it is in, and may of
/// results in the two columns beside its windows.
std::unique_ptr<Kernel> prepare_conv_fast_f32(ConvPass pass, const ConvShape& shape, bool bias, int threads);
/// Of f32 and bf16, computed in f32: 3 x 3 and 5 x 5 of stride 1; else null. The error of a result, before it is
/// rounded to its dtype, is one to three times that of a sum of products.
std::unique_ptr<Kernel> prepare_conv_winograd(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                              int threads);
/// 1x1 kernels of stride 1 without padding or groups, as a product; else null.
std::unique_ptr<Kernel> prepare_conv_pointwise(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                               const DeviceInfo& device);
/// Windows of a few images as a matrix (im2col), times the weights by the device's product; without bias. What cuDNN
/// has no engine for; takes one image's windows at least, whatever the limit. On the CPU f32 and f64 alone, for tests.
std::unique_ptr<Kernel> prepare_conv_unfold(ConvPass pass, const ConvShape& shape, DType dtype,
                                            const DeviceInfo& device);
/// On the GPU that `device` is or describes, by the best of cuDNN's engines, or with trials by the fastest; null if it
/// has none for it. Defined if CUDA is built in.
std::unique_ptr<Kernel> prepare_conv_cudnn(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                           const DeviceInfo& device);
/// bf16 and f16 on a CPU that does not multiply them: a few images at a time in f32, so that the wide copies stay
/// small; weight gradients are summed in f32.
std::unique_ptr<Kernel> prepare_conv_widened(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                             const DeviceInfo& device);

}  // namespace lethe
