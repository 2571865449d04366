// Loops over pixels: a CPU thread takes a pixel's channels in blocks that vectorise, a GPU thread one channel.
#pragma once
#include <algorithm>

#include "kernels/divisor.h"
#include "kernels/each_device.h"

namespace lethe {

/// A pixel by image and place.
struct Pixel {
  std::int64_t image, h, w;
};

/// Pixels of images, counted through all of them.
class PixelGrid {
 public:
  explicit PixelGrid(std::int64_t height = 1, std::int64_t width = 1) : height_(height), width_(width) {}
  HD Pixel at(std::int64_t index) const {
    const std::int64_t row = width_.quotient(index), image = height_.quotient(row);
    return {image, row - image * height_.by(), index - row * width_.by()};
  }

 private:
  Divisor height_, width_;
};

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
template <class F>
struct EachChannel {
  Divisor channels;
  F f;
  HD void operator()(std::int64_t i) const {
    const std::int64_t pixel = channels.quotient(i);
    f.template block<1>(pixel, i - pixel * channels.by(), 1);
  }
};

template <class F>
void for_each_pixel(Cuda device, void* stream, std::int64_t pixels, std::int64_t channels, std::int64_t, const F& f) {
  parallel_for(device, stream, pixels * channels, EachChannel<F>{Divisor(channels), f});
}
#endif

}  // namespace lethe
