// Convolution: one interface, several providers. Activations are [N, H, W, C], weights [O, kh, kw, C / groups].
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/gemm/epilogue.h"
#include "kernels/provider.h"

namespace lethe {

/// {height, width}
using Extent = std::array<std::int64_t, 2>;

struct ConvShape {
  std::int64_t batch = 0, channels = 0, filters = 0, groups = 1;
  Extent in = {}, out = {}, kernel = {};
  Extent stride = {1, 1}, pad = {0, 0}, dilation = {1, 1};  // pad: zeros on each side
};

// Elements of x, y and the weights.
inline std::int64_t x_size(const ConvShape& s) { return s.batch * s.in[0] * s.in[1] * s.channels; }
inline std::int64_t y_size(const ConvShape& s) { return s.batch * s.out[0] * s.out[1] * s.filters; }
inline std::int64_t weight_size(const ConvShape& s) {
  return s.filters * s.kernel[0] * s.kernel[1] * (s.channels / s.groups);
}

enum class ConvPass {
  Forward,     // x, weight, bias? -> y
  GradInput,   // dy, weight -> dx
  GradWeight,  // x, dy -> dw
};

/// "a convolution of [32,28,28,64] by 64 filters of 3x3...", in messages.
std::string text_of(ConvPass pass, const ConvShape& shape);

/// What a convolution may take as workspace on a GPU, in bytes: what was given; else 1 GiB, because the fast engines of
/// cuDNN transpose or pad images there (docs/explanation/gpu.md).
std::int64_t workspace_limit(const DeviceInfo& device);

/// Any float dtype, sums in f32 at least. On a CPU the bits of the result depend on shape, provider, number of
/// threads, DeviceInfo::winograd and fast_f32, and what DeviceInfo::trials chose alone. Only the forward pass has an
/// epilogue.
std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                     const DeviceInfo& device, Provider provider = Provider::Best);

}  // namespace lethe
