// Pixels of images: by number, by image and place, and in the memory of an operand.
#pragma once
#include "framework/language/strides.h"
#include "kernels/divisor.h"

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

/// The pixels of an operand, `step` elements from one to the next.
template <class T>
struct Pixels {
  T* first;
  std::int64_t step;
  HD T* at(std::int64_t pixel, std::int64_t channel) const { return first + pixel * step + channel; }
  /// Of pixel row + column.
  HD T* at(std::int64_t row, std::int64_t column, std::int64_t channel) const {
    return first + row * step + channel + column * step;
  }
};

}  // namespace lethe
