// The gradient of a pooling on a GPU, for windows of the usual sizes: a thread takes a patch of positions, as large as
// the stride, and reads each window over it once.
#pragma once
#include "kernels/channels.h"
#include "kernels/pool.h"
#include "kernels/unrolled.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Patch q of an axis: positions q * S + r - pad for r < S. The windows q - m with m < kOver are over it: at place
/// r + m * S of each, if that is less than K.
struct PatchAxis {
  std::int32_t in, out, pad, first, count;  // of patches that hold a position: the first, and how many
  PatchAxis(const PoolAxis& a, std::int64_t stride)
      : in(static_cast<std::int32_t>(a.in)),
        out(static_cast<std::int32_t>(a.out)),
        pad(static_cast<std::int32_t>(a.pad)),
        first(static_cast<std::int32_t>(a.pad / stride)),
        count(static_cast<std::int32_t>((a.in - 1 + a.pad) / stride) + 1 - first) {}
  HD bool has(std::int32_t i) const { return i >= 0 && i < in; }
  HD bool has_window(std::int32_t o) const { return o >= 0 && o < out; }
};

template <class Given, class T, int K, int S>
struct PoolGradOfPatches {
  static constexpr int B = kPack<T>, kOver = (K - 1) / S + 1;
  Pooling p;
  Given given;
  Pixels<T> dx;
  PatchAxis height = PatchAxis(p.height, S), width = PatchAxis(p.width, S);
  Divisor blocks = Divisor(p.channels / B), rows = Divisor(height.count), columns = Divisor(width.count);

  HD void operator()(std::int64_t index) const {
    const auto i = static_cast<std::int32_t>(index);
    const std::int32_t patch = blocks.quotient(i), row = columns.quotient(patch), image = rows.quotient(row);
    const std::int64_t first = (i - patch * blocks.by()) * B;
    const std::int32_t v = row - image * height.count + height.first, u = patch - row * width.count + width.first;
    Compute<T> sum[S * S][B] = {};
    unrolled<0, kOver * kOver>([&](int number) {
      const int m = kOver - 1 - number / kOver, n = kOver - 1 - number % kOver;  // windows in their order
      const bool exists = height.has_window(v - m) && width.has_window(u - n);
      const std::int32_t from = exists ? (image * height.out + v - m) * width.out + u - n : 0;
      const auto of_window = given.template of<B>(p, from, v - m, u - n, first, exists);
      unrolled<0, S * S>([&](int r) {
        const int h = r / S + m * S, w = r % S + n * S;
        if (h < K && w < K)
          for (int c = 0; c < B; ++c) sum[r][c] += of_window(c, h * K + w);
      });
    });
    unrolled<0, S * S>([&](int r) {
      const std::int32_t h = v * S + r / S - height.pad, w = u * S + r % S - width.pad;
      if (!height.has(h) || !width.has(w)) return;
      auto&& to = channels_to<B>(dx.at((image * height.in + h) * width.in + w, first));
      for (int c = 0; c < B; ++c) to[c] = sum[r][c];
    });
  }
};

}  // namespace lethe
#endif
