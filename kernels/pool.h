// Pooling: windows that slide over images [N, H, W, C], what an op says of them, and the largest value of one.
#pragma once
#include "framework/builder/layer_call.h"
#include "framework/language/layer.h"
#include "framework/language/op_def.h"
#include "kernels/pixels.h"

namespace lethe {

/// Input positions first + 0 .. first + count - 1 of one axis, and where the first stands in the window.
struct Reach {
  std::int64_t first, count, skipped;
};

/// One axis of a pooling: `in` positions, windows of `k` every `stride`, the first beginning `pad` before the input.
struct PoolAxis {
  std::int64_t in = 1, out = 1, k = 1, pad = 0;
  Divisor stride = Divisor();

  /// Where window `o` begins, which may be in the padding. N: int64, or int32 where that is enough.
  template <class N>
  HD N start(N o) const {
    return o * static_cast<N>(stride.by()) - static_cast<N>(pad);
  }
  /// What window `o` covers of the input; never nothing.
  HD Reach window(std::int64_t o) const {
    const std::int64_t start = this->start(o), first = start < 0 ? 0 : start;
    return {first, count(o), first - start};
  }
  /// How many positions that are.
  template <class N>
  HD N count(N o) const {
    const N start = this->start(o), end = start + static_cast<N>(k);
    return (end < static_cast<N>(in) ? end : static_cast<N>(in)) - (start < 0 ? 0 : start);
  }
  /// The windows that cover input position `i`; `skipped` is meaningless.
  HD Reach windows_over(std::int64_t i) const {
    const std::int64_t first = i + pad < k ? 0 : stride.quotient(i + pad - k) + 1, last = stride.quotient(i + pad);
    return {first, (last < out ? last + 1 : out) - first, 0};
  }
  /// Where input position `i` stands in window `o`.
  HD std::int64_t place(std::int64_t i, std::int64_t o) const { return i - start(o); }
  /// Positions of window `o` with its padding; what lies after the padding (ceil mode) does not count.
  template <class N>
  HD N padded_count(N o) const {
    const N start = this->start(o), end = start + static_cast<N>(k), last = static_cast<N>(in + pad);
    return (end < last ? end : last) - start;
  }
};

struct Pooling {
  std::int64_t images = 1, channels = 1;
  PoolAxis height = {}, width = {};
  PixelGrid in_pixels = PixelGrid(), out_pixels = PixelGrid();
  /// The most windows that cover one input position.
  std::int64_t windows_over_most() const {
    const auto most = [](const PoolAxis& a) { return (a.k - 1) / a.stride.by() + 1; };
    return most(height) * most(width);
  }
  /// Whether all windows are squares of `k`, `stride` apart.
  bool has_squares(std::int64_t k, std::int64_t stride) const {
    return height.k == k && width.k == k && height.stride.by() == stride && width.stride.by() == stride;
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

/// From an image shape and the attributes k, stride, pad (each [height, width]) and ceil_mode, whose last window must
/// begin inside the input or the padding before it, as PyTorch has it. Fails for windows that do not fit.
Pooling pooling_of(const Op& op, const Shape& image);
/// The attributes of a gradient: the op's own, with `height` and `width` of the input.
Attrs pooling_grad_attrs(const Attrs& attrs, const Shape& image);
/// The pooling that a gradient op with those attributes belongs to; `dy` is its output's shape.
Pooling pooling_of_grad(const Op& op, const Shape& dy);

/// Keys of a pooling layer that both kinds have, and the attributes they stand for.
std::vector<Key> pooling_keys();
Attrs pooling_attrs(LayerCall& call);

}  // namespace lethe
