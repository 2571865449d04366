// Loops over pixels: a CPU thread takes a pixel's channels in blocks that vectorise, a GPU thread one channel, or as
// many as 16 bytes hold.
#pragma once
#include <algorithm>

#include "kernels/packs.h"
#include "kernels/pixels.h"

namespace lethe {

/// Whether packs of so many channels may be read and written there.
template <int B, class... T>
bool can_pack_pixels(const Pixels<T>&... pixels) {
  return can_pack({pixels.first...}) && (... && (pixels.step % B == 0));
}

/// Channels that a CPU thread works on at once: their results stay in registers.
inline constexpr int kChannelBlock = 64;

/// Calls f.template block<B>(pixel, first channel, count) with count <= B until all channels of all pixels had their
/// turn. `work`: elements read for each written.
template <class F>
void for_each_pixel(Cpu, void*, std::int64_t pixels, std::int64_t channels, std::int64_t work, const F& f) {
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / (channels * work));
  parallel_ranges(pixels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t pixel = begin; pixel < end; ++pixel)
      for (std::int64_t c = 0; c < channels; c += kChannelBlock)
        f.template block<kChannelBlock>(pixel, c, std::min<std::int64_t>(kChannelBlock, channels - c));
  });
}

#ifdef LETHE_DEVICE_CODE
template <class F, int B>
struct EachChannels {
  Divisor blocks;  // of a pixel
  F f;
  HD void operator()(std::int64_t i) const {
    const std::int64_t pixel = blocks.quotient(i);
    f.template block<B>(pixel, (i - pixel * blocks.by()) * B, B);
  }
};

/// Functors that use channels_at and channels_to have kElements, how many channels to take at once, and can_pack(),
/// whether their addresses allow it.
template <class F>
void for_each_pixel(Cuda device, void* stream, std::int64_t pixels, std::int64_t channels, std::int64_t, const F& f) {
  if constexpr (requires { f.can_pack(); }) {
    constexpr int kB = F::kElements;
    if (channels % kB == 0 && f.can_pack())
      return parallel_for(device, stream, pixels * (channels / kB), EachChannels<F, kB>{Divisor(channels / kB), f});
  }
  parallel_for(device, stream, pixels * channels, EachChannels<F, 1>{Divisor(channels), f});
}
#endif

}  // namespace lethe
