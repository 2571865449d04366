// The angles by which positions are told apart (Vaswani et al., 2017): at position p pair k of `width` numbers has the
// angle p * base^(-2k / width). In f64: far positions turn often.
#pragma once
#include <cmath>
#include <cstdint>

#include "kernels/device_code.h"

namespace lethe {

struct PositionAngles {
  double log_base;
  std::int64_t width;
  PositionAngles(double base, std::int64_t width) : log_base(std::log(base)), width(width) {}
  HD double operator()(std::int64_t position, std::int64_t pair) const {
    const double share = static_cast<double>(2 * pair) / static_cast<double>(width);
    return static_cast<double>(position) * std::exp(-share * log_base);
  }
};

}  // namespace lethe
