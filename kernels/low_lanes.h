// A vector register of floats (kernels/cpu/lanes.h) read from bf16 and written to it.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/lanes.h"
#include "kernels/low_floats.h"

namespace lethe::simd {

using Words [[gnu::vector_size(kLanes * sizeof(std::uint32_t))]] = std::uint32_t;
using Halves [[gnu::vector_size(kLanes * sizeof(std::uint16_t))]] = std::uint16_t;

/// Floats rounded to bf16, as Bf16Format has it for one, in the upper halves of as many words; what is in the lower
/// ones does not count.
template <class Words, class Floats>
Words round_upper_halves(const Floats& values) {
  const Words bits = std::bit_cast<Words>(values);
  return values != values ? bits | 0x400000U : bits + 0x7FFF + (bits >> 16 & 1);
}

/// As Bf16Format has it for one.
inline Lanes widen(const Halves& halves) { return std::bit_cast<Lanes>(__builtin_convertvector(halves, Words) << 16); }
inline Halves round_to_bf16(const Lanes& lanes) {
  return __builtin_convertvector(round_upper_halves<Words>(lanes) >> 16, Halves);
}

inline Lanes load(const Bf16* from) {
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  return widen(halves);
}
inline Lanes load(const Bf16* from, std::int64_t count) {
  if (count >= kLanes) return load(from);
  Halves halves = {};
  std::memcpy(&halves, from, static_cast<std::size_t>(count) * sizeof(Bf16));
  return widen(halves);
}
inline void store(const Lanes& lanes, Bf16* to, std::int64_t count) {
  const Halves halves = round_to_bf16(lanes);
  if (count >= kLanes)
    std::memcpy(to, &halves, sizeof halves);
  else
    std::memcpy(to, &halves, static_cast<std::size_t>(count) * sizeof(Bf16));
}

}  // namespace lethe::simd
