// bf16 and f16 as storage types: a value is widened to f32 to compute with (Compute<T>) and rounded to nearest, ties to
// even, when it is stored. Templates over T read and write memory as T and keep what they compute in Compute<T>.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/device_code.h"

namespace lethe {

/// Once to nearest, not twice, where f32 comes between: rounded to odd (Boldo and Melquiond, 2008) it keeps the side of
/// every tie.
HD inline float to_odd(double x) {
  const auto near = static_cast<float>(x);
  const double wide = near;
  if (wide == x || x != x) return near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  const bool away = x < 0 ? wide < x : wide > x;
  return std::bit_cast<float>((away ? bits - 1 : bits) | 1);
}

struct Bf16Format {  // the upper half of an f32
  HD static float widen(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  HD static std::uint16_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U)  // NaN, quiet, so that no payload becomes infinity
      return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
};

/// IEEE's binary16: from 65520 on infinity; below 2^-14 multiples of 2^-24. Here no f32 subnormals come up, which
/// threads of ours flush to zero.
struct F16Format {
  HD static float widen(std::uint16_t bits) {
    const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, rest = bits & 0x7FFFU;
    const float small = static_cast<float>(rest) * 0x1p-24F;
    const std::uint32_t normal = (rest << 13) + (112U << 23), special = rest << 13 | 0x7F800000U;
    const std::uint32_t wide = rest < 0x0400 ? std::bit_cast<std::uint32_t>(small) : rest < 0x7C00 ? normal : special;
    return std::bit_cast<float>(sign | wide);
  }
  HD static std::uint16_t round(float x) {
    const auto all = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t bits = all & 0x7FFFFFFFU, sign = all >> 16 & 0x8000U;
    const float size = std::bit_cast<float>(bits);
    const std::uint32_t small = std::bit_cast<std::uint32_t>(size + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t normal = (bits + 0xFFF + (bits >> 13 & 1) - (112U << 23)) >> 13;
    // Compared as whole numbers, so that loops vectorise: 2^-14, 65520, infinity.
    const std::uint32_t large = bits > 0x7F800000U ? 0x7E00U : 0x7C00U;
    const std::uint32_t half = bits < 0x38800000U ? small : bits < 0x477FF000U ? normal : large;
    return static_cast<std::uint16_t>(sign | half);
  }
};

template <class Format>
struct LowFloat {
  std::uint16_t bits;

  LowFloat() = default;
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  HD LowFloat(N x) : bits(round(x)) {}
  HD operator float() const { return Format::widen(bits); }

 private:
  HD static std::uint16_t round(float x) { return Format::round(x); }
  template <class N>
  HD static std::uint16_t round(N x) {
    return Format::round(to_odd(static_cast<double>(x)));
  }
};

using Bf16 = LowFloat<Bf16Format>;
using F16 = LowFloat<F16Format>;

template <class T>
struct ComputeOf {
  using Type = T;
};
template <class Format>
struct ComputeOf<LowFloat<Format>> {
  using Type = float;
};
/// What values of T are computed in.
template <class T>
using Compute = typename ComputeOf<T>::Type;

template <class T>
HD Compute<T> compute(T x) {
  return x;
}

}  // namespace lethe

/// Only what holds for Compute<T> too.
template <class Format>
struct std::numeric_limits<lethe::LowFloat<Format>> {
  static constexpr bool is_integer = false;
};
