// The gradient of a pooling by its input: each position adds up what the windows over it give it, so no two threads
// write the same element. A CPU thread takes a position, and so does a GPU's unless windows are of the usual sizes:
// then it takes a patch of them and reads each window over it once.
#pragma once
#include "kernels/low_floats.h"
#include "kernels/pool_patches.h"

namespace lethe {

/// `given` has of<B>(p, pixel, h, w, first, exists): what window (h, w), which is that pixel of the output, gives for B
/// channels from `first`, a functor over channels and places in the window; nothing if it does not exist, and then
/// `pixel` is one that does.
template <class Given, class T>
struct PoolGradOfPixels {
  Pooling p;
  Given given;
  Pixels<T> dx;

  template <int B>
  HD void block(std::int64_t pixel, std::int64_t first, std::int64_t count) const {
    const Pixel at = p.in_pixels.at(pixel);
    const Reach rows = p.height.windows_over(at.h), columns = p.width.windows_over(at.w);
    const bool dense = p.is_dense();
    Compute<T> sum[B] = {};
    for (std::int64_t h = rows.first; h < rows.first + rows.count; ++h)
      for (std::int64_t w = columns.first; w < columns.first + columns.count; ++w) {
        if (!dense && !p.has(at, h, w)) continue;
        const std::int64_t from = (at.image * p.height.out + h) * p.width.out + w;
        const auto of_window = given.template of<B>(p, from, h, w, first, true);
        const auto place = static_cast<std::int32_t>(p.height.place(at.h, h) * p.width.k + p.width.place(at.w, w));
        for (std::int64_t c = 0; c < count; ++c) sum[c] += of_window(c, place);
      }
    auto&& to = channels_to<B>(dx.at(pixel, first));
    for (std::int64_t c = 0; c < count; ++c) to[c] = sum[c];
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return given.template can_pack<kElements>() && can_pack_pixels<kElements>(dx); }
};

template <class Given, class T>
void pool_gradient(Cpu device, void* stream, const Pooling& p, const Given& given, const Pixels<T>& dx) {
  for_each_pixel(device, stream, p.images * p.height.in * p.width.in, p.channels, p.windows_over_most(),
                 PoolGradOfPixels<Given, T>{p, given, dx});
}

#ifdef LETHE_DEVICE_CODE
template <class Given, class T>
void pool_gradient(Cuda device, void* stream, const Pooling& p, const Given& given, const Pixels<T>& dx) {
  const PoolGradOfPixels<Given, T> pixels{p, given, dx};
  const std::int64_t in = p.images * p.height.in * p.width.in;
  if constexpr (Given::kInPatches) {
    const auto by_patches = [&](const auto& patches) {
      parallel_for(device, stream, p.images * patches.height.count * patches.width.count * patches.blocks.by(),
                   patches);
    };
    if (p.is_small() && p.channels % kPack<T> == 0 && pixels.can_pack()) {
      if (p.has_squares(2, 2)) return by_patches(PoolGradOfPatches<Given, T, 2, 2>{p, given, dx});
      if (p.has_squares(3, 2)) return by_patches(PoolGradOfPatches<Given, T, 3, 2>{p, given, dx});
      if (p.has_squares(3, 1)) return by_patches(PoolGradOfPatches<Given, T, 3, 1>{p, given, dx});
    }
  }
  for_each_pixel(device, stream, in, p.channels, p.windows_over_most(), pixels);
}
#endif

}  // namespace lethe
