// How a byte of an image becomes a number, wherever that happens: on the host or by an op.
#pragma once
#include <cstdint>

#include "kernels/hd.h"

namespace lethe {

/// (byte / 255 - mean) / deviation, in f64. The divisions are done once for each channel: a GPU has few units for f64.
class PixelScale {
 public:
  PixelScale() = default;
  PixelScale(double mean, double deviation) : factor_(1 / (255 * deviation)), offset_(-mean / deviation) {}
  HD double operator()(std::uint8_t pixel) const { return pixel * factor_ + offset_; }

 private:
  double factor_ = 0, offset_ = 0;
};

}  // namespace lethe
