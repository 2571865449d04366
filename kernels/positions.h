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

/// The slow pairs of a network that was taught first on windows of `length` tokens are slowed `factor` times for longer
/// ones (rope type "llama3" of Hugging Face's transformers, modeling_rope_utils.py; Llama 3.1): by how often a pair
/// turns within that length those of at most `low` turns wholly, those of `high` and more not, those between in part.
struct SlowedPairs {
  double factor = 1, low = 1, high = 4, length = 8192;
  /// Of a pair that turns by `step` radians from a position to the next: by what this is multiplied.
  HD double operator()(double step) const {
    if (factor == 1) return 1;
    const double turns = length * step / 6.283185307179586;
    const double kept = turns <= low ? 0 : turns >= high ? 1 : (turns - low) / (high - low);
    return kept + (1 - kept) / factor;
  }
};

}  // namespace lethe
