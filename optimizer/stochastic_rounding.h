// A parameter in bf16 without a copy in f32: an update rounds up or down by chance, in proportion to what is cut off,
// so that small steps are not lost on average (Gupta et al., "Deep Learning with Limited Numerical Precision", 2015).
// The chance is a function of seed, parameter, step and element.
#pragma once
#include <array>
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

  /// Element `at` of the update.
  HD Bf16 round(float x, std::int64_t at, std::int64_t step) const {
    const auto element = static_cast<std::uint64_t>(first + at);
    return rounded_by(x, bits_of(philox(key, static_cast<std::uint64_t>(step), element / 8), element % 8));
  }
  /// The first n of N numbers, which are the update's from element `from` on; N: a multiple of 8.
  template <int N>
  HD void round(const float* x, std::int64_t from, int n, std::int64_t step, Bf16* to) const {
    const auto begin = static_cast<std::uint64_t>(first + from);
    if (begin % 8 != 0 || n != N) {
      for (int k = 0; k < n; ++k) to[k] = round(x[k], from + k, step);
      return;
    }
    std::array<Philox4, N / 8> drawn;  // all before the first is used, so that a CPU's vectors do it
    for (int k = 0; k < N / 8; ++k) drawn[k] = philox(key, static_cast<std::uint64_t>(step), begin / 8 + k);
    static_assert(std::endian::native == std::endian::little);
    const auto bits = std::bit_cast<std::array<std::uint16_t, N>>(drawn);  // bits_of each, one after another
    for (int k = 0; k < N; ++k) to[k] = rounded_by(x[k], bits[k]);
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
