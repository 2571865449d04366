// A parameter in bf16 without a copy in f32: an update rounds up or down by chance, in proportion to what is cut off,
// so that small steps are not lost on average (Gupta et al., "Deep Learning with Limited Numerical Precision", 2015).
// The chance is a function of seed, parameter, step and element.
#pragma once
#include <bit>
#include <cstdint>

#include "framework/language/attrs.h"
#include "framework/random.h"
#include "kernels/low_floats.h"

namespace lethe {

/// Attributes of an update of such a parameter: the key of its stream, and which element of the whole parameter its
/// first one is.
inline constexpr const char* kRoundingKey = "rounding";
inline constexpr const char* kRoundingFirst = "rounding_first";

/// `random`: 16 bits. What is infinite or NaN stays so.
HD inline Bf16 rounded_by(float x, std::uint32_t random) {
  constexpr std::uint32_t kInfinite = 0x7F800000u, kQuiet = 0x00400000u;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool finite = (bits & kInfinite) != kInfinite;
  Bf16 rounded;
  rounded.bits = static_cast<std::uint16_t>((finite ? bits + random : x != x ? bits | kQuiet : bits) >> 16);
  return rounded;
}

/// Of each step and element.
struct RoundingStream {
  std::uint64_t key = 0;
  std::int64_t first = 0;  // element of the whole parameter

  /// Rounds n numbers from element `from` of the update on.
  HD void round(const float* x, std::int64_t from, int n, std::int64_t step, Bf16* to) const {
    const auto begin = static_cast<std::uint64_t>(first + from);
    const auto at = static_cast<std::uint64_t>(step);
    if (begin % 8 != 0 || n % 8 != 0) {
      for (int k = 0; k < n; ++k) to[k] = rounded_by(x[k], bits_of(philox(key, at, (begin + k) / 8), (begin + k) % 8));
      return;
    }
    for (int k = 0; k < n; k += 8) {
      const Philox4 four = philox(key, at, (begin + k) / 8);
      for (int i = 0; i < 8; ++i) to[k + i] = rounded_by(x[k + i], bits_of(four, i));
    }
  }

 private:
  /// 16 bits for each of eight elements.
  HD static std::uint32_t bits_of(const Philox4& four, std::uint64_t i) {
    return four.word[i / 2] >> (i % 2 == 0 ? 0 : 16) & 0xFFFFu;
  }
};

/// As the attributes of an update say it.
inline RoundingStream rounding_of(const Attrs& attrs) {
  return {.key = static_cast<std::uint64_t>(attrs.integer(kRoundingKey)), .first = attrs.integer(kRoundingFirst)};
}

}  // namespace lethe
