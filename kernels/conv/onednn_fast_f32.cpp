#include <algorithm>

#include "kernels/conv/providers.h"
#include "kernels/gemm/three_products.h"

namespace lethe {
namespace {

/// Terms of the shortest sum that is not at a border; of a weight's gradient a quarter, as f32's own adds that up in
/// parts, which is as exact as a shorter sum.
std::int64_t terms_of(ConvPass pass, const ConvShape& s) {
  const auto steps = [&](int axis) { return std::max<std::int64_t>(1, s.kernel[axis] / s.stride[axis]); };
  switch (pass) {
    case ConvPass::Forward:
      return s.kernel[0] * s.kernel[1] * s.channels / s.groups;
    case ConvPass::GradInput:
      return steps(0) * steps(1) * s.filters / s.groups;
    default:
      return s.batch * s.out[0] * s.out[1] / 4;
  }
}

/// Three times as deep where the pass sums: channels, filters or images.
ConvShape deepened(ConvPass pass, ConvShape s) {
  (pass == ConvPass::Forward ? s.channels : pass == ConvPass::GradInput ? s.filters : s.batch) *= 3;
  return s;
}

/// Of x or dy, and of the weights or dy.
std::array<FactorRows, 2> factors_of(ConvPass pass, const ConvShape& s) {
  const std::int64_t channels = s.channels / s.groups, filters = s.filters / s.groups, x = x_size(s), y = y_size(s),
                     w = weight_size(s);
  switch (pass) {
    case ConvPass::Forward:
      return {{{x / channels, channels}, {w / channels, channels}}};
    case ConvPass::GradInput:
      return {{{y / filters, filters}, {s.groups, w / s.groups}}};
    default:
      return {{{1, x}, {1, y}}};
  }
}

}  // namespace

std::unique_ptr<Kernel> prepare_conv_fast_f32(ConvPass pass, const ConvShape& shape, int threads) {
  if (terms_of(pass, shape) < kShortestSum) return nullptr;
  auto conv = prepare_conv_onednn(pass, deepened(pass, shape), false, DType::bf16, threads, DType::f32);
  if (!conv) return nullptr;
  const auto [a, b] = factors_of(pass, shape);
  return prepare_three_products(a, b, std::move(conv));
}

}  // namespace lethe
