#include "kernels/conv/providers.h"
#include "kernels/gemm/three_products.h"

namespace lethe {
namespace {

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
  auto conv = prepare_conv_onednn(pass, deepened(pass, shape), false, DType::bf16, threads, DType::f32);
  if (!conv) return nullptr;
  const auto [a, b] = factors_of(pass, shape);
  return prepare_three_products(a, b, std::move(conv));
}

}  // namespace lethe
