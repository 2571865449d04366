// Pooling: windows that slide over images [N, H, W, C], what an op says of them, and the largest value of one.
#pragma once
#include "framework/builder/layer_call.h"
#include "framework/language/layer.h"
#include "framework/language/op_def.h"
#include "kernels/pixels.h"
#include "kernels/pool_axis.h"

namespace lethe {

struct Pooling {
  std::int64_t images = 1, channels = 1;
  PoolAxis height = {}, width = {};
  PixelGrid in_pixels = PixelGrid(), out_pixels = PixelGrid();
  HD bool is_dense() const { return height.is_dense() && width.is_dense(); }
  /// The most windows that cover one input position.
  std::int64_t windows_over_most() const {
    const auto most = [](const PoolAxis& a) { return (a.reach - 1) / a.stride.by() + 1; };
    return most(height) * most(width);
  }
  /// Whether all windows are squares of `k` by `k` neighbours.
  HD bool has_squares(std::int64_t k) const { return height.k == k && width.k == k && is_dense(); }
  bool has_squares(std::int64_t k, std::int64_t stride) const {  // `stride` apart
    return has_squares(k) && height.stride.by() == stride && width.stride.by() == stride;
  }
  /// Whether window (h, w), which reaches over the pixel, has it.
  HD bool has(const Pixel& at, std::int64_t h, std::int64_t w) const {
    return height.has(at.h, h) && width.has(at.w, w);
  }
  /// Whether 32 bits count all elements.
  HD bool is_small() const { return images * channels * height.in * width.in < std::int64_t{1} << 31; }
  Shape in_shape() const { return {images, height.in, width.in, channels}; }
  Shape out_shape() const { return {images, height.out, width.out, channels}; }
};

/// Whether `v`, met later in its window than `most`, is the window's largest instead: NaN always is.
template <class T>
HD bool wins(T v, T most) {
  return v > most || v != v;
}

/// From an image shape and the attributes k, stride, pad, after (the padding below and to the right; absent: pad) and
/// dilation (absent: 1), each [height, width], and ceil_mode, whose last window must begin inside the input or the
/// padding before it, as PyTorch has it. Fails for windows that do not fit.
Pooling pooling_of(const Op& op, const Shape& image);
/// The attributes of a gradient: the op's own, with `height` and `width` of the input.
Attrs pooling_grad_attrs(const Attrs& attrs, const Shape& image);
/// The pooling that a gradient op with those attributes belongs to; `dy` is its output's shape.
Pooling pooling_of_grad(const Op& op, const Shape& dy);

/// Keys of a pooling layer that both kinds have, and the attributes they stand for.
std::vector<Key> pooling_keys();
Attrs pooling_attrs(LayerCall& call);

}  // namespace lethe
