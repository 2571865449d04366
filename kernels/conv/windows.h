// Images as matrices of windows, for convolutions as products: a row is a window of the kernel, with a column for each
// place and channel. Unfold writes them, fold adds them back to the pixels that they came from.
#pragma once
#include "kernels/low_floats.h"
#include "kernels/pool_pixels.h"

namespace lethe {

/// One axis of the windows: `in` positions, `out` windows.
struct WindowAxis {
  std::int64_t in = 1, out = 1, k = 1, stride = 1, pad = 0, dilation = 1;
  /// The input position under place `at` of window `o`; it may lie in the padding.
  HD std::int64_t position(std::int64_t o, std::int64_t at) const { return o * stride - pad + at * dilation; }
  HD bool has(std::int64_t position) const { return position >= 0 && position < in; }
  /// The window whose place `at` lies over input position `i`, or -1.
  HD std::int64_t window_over(std::int64_t i, std::int64_t at) const {
    const std::int64_t start = i + pad - at * dilation;
    return start >= 0 && start % stride == 0 && start / stride < out ? start / stride : -1;
  }
};

/// `channels` of the image's `stride`, from the `first` on.
struct Windows {
  std::int64_t images = 1, channels = 1;
  WindowAxis height = {}, width = {};
  std::int64_t first = 0, stride = 0;  // 0: the image has `channels`
  HD std::int64_t positions() const { return images * height.out * width.out; }
  HD std::int64_t places() const { return height.k * width.k; }
  HD std::int64_t pixels() const { return images * height.in * width.in; }
  HD std::int64_t pixel_stride() const { return stride > 0 ? stride : channels; }
};

template <class T>
struct Unfold {
  Windows w;
  PixelGrid out_pixels;
  const T* image;
  T* columns;

  /// Of one place of one window.
  template <int B>
  HD void block(std::int64_t index, std::int64_t first, std::int64_t count) const {
    const std::int64_t kx = index % w.width.k, ky = index / w.width.k % w.height.k;
    const Pixel window = out_pixels.at(index / w.places());
    const std::int64_t row = w.height.position(window.h, ky), column = w.width.position(window.w, kx);
    const bool inside = w.height.has(row) && w.width.has(column);
    const std::int64_t pixel = (window.image * w.height.in + row) * w.width.in + column;
    const T* const from = inside ? image + pixel * w.pixel_stride() + w.first + first : nullptr;
    for (std::int64_t c = 0; c < count; ++c) columns[index * w.channels + first + c] = inside ? from[c] : T(0);
  }
};

/// Each pixel adds up what every place of the kernel has for it: no two threads write the same element.
template <class From, class To>
struct Fold {
  Windows w;
  PixelGrid in_pixels;
  const From* columns;
  To* image;

  template <int B>
  HD void block(std::int64_t index, std::int64_t first, std::int64_t count) const {
    const Pixel pixel = in_pixels.at(index);
    Compute<To> sum[B] = {};
    for (std::int64_t ky = 0; ky < w.height.k; ++ky)
      for (std::int64_t kx = 0; kx < w.width.k; ++kx) {
        const std::int64_t oy = w.height.window_over(pixel.h, ky), ox = w.width.window_over(pixel.w, kx);
        if (oy < 0 || ox < 0) continue;
        const std::int64_t window = (pixel.image * w.height.out + oy) * w.width.out + ox;
        const From* const from = columns + ((window * w.height.k + ky) * w.width.k + kx) * w.channels + first;
        for (std::int64_t c = 0; c < count; ++c) sum[c] += from[c];
      }
    To* const to = image + index * w.pixel_stride() + w.first + first;
    for (std::int64_t c = 0; c < count; ++c) to[c] = sum[c];
  }
};

template <class Device, class T>
void unfold_windows(Device device, void* stream, const Windows& w, const T* image, T* columns) {
  for_each_pixel(device, stream, w.positions() * w.places(), w.channels, 1,
                 Unfold<T>{w, PixelGrid(w.height.out, w.width.out), image, columns});
}
template <class Device, class From, class To>
void fold_windows(Device device, void* stream, const Windows& w, const From* columns, To* image) {
  for_each_pixel(device, stream, w.pixels(), w.channels, w.places(),
                 Fold<From, To>{w, PixelGrid(w.height.in, w.width.in), columns, image});
}

}  // namespace lethe
