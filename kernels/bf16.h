// bf16, the upper half of an f32, as a storage type: it is widened to compute with and rounded to be kept.
#pragma once
#include <bit>
#include <cstdint>

#include "kernels/each_device.h"

namespace lethe {

struct Bf16 {
  std::uint16_t bits;
};

HD inline float widen(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

/// To nearest, ties to even; NaN stays NaN.
HD inline Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (x != x) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};  // quiet, so that no payload becomes infinity
  return {static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}

/// Once to nearest, not twice: the step through f32 rounds to odd (Boldo and Melquiond, 2008), which keeps the side of
/// every tie.
HD inline Bf16 to_bf16(double x) {
  const auto near = static_cast<float>(x);
  const double wide = near;
  if (wide == x || x != x) return to_bf16(near);
  auto bits = std::bit_cast<std::uint32_t>(near);
  const bool away = x < 0 ? wide < x : wide > x;
  return to_bf16(std::bit_cast<float>((away ? bits - 1 : bits) | 1));
}

}  // namespace lethe
