// bf16 and f16 as storage types: a value is widened to f32 to compute with (Compute<T>) and rounded to nearest, ties to
// even, when it is stored. Templates over T read and write memory as T and keep what they compute in Compute<T>.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/device_code.h"
#include "kernels/low_formats.h"

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

template <class Format>
struct LowFloat {
  static constexpr float kMostToZero = Format::kMostToZero;
  std::uint16_t bits;

  LowFloat() = default;
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  HD LowFloat(N x) : bits(round(x)) {}
  HD operator float() const { return Format::widen(bits); }
  /// x is a value of this type, so nothing is rounded.
  HD static LowFloat exactly(float x) {
    LowFloat made;
    made.bits = Format::narrow(x);
    return made;
  }

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

/// x, which is a value of T, as T: without the work of rounding.
template <class T>
HD T exactly(Compute<T> x) {
  if constexpr (std::is_same_v<T, Compute<T>>)
    return x;
  else
    return T::exactly(x);
}

/// Whether x, rounded to T, is at most 0, without the work of rounding.
template <class T>
HD bool rounds_to_at_most_zero(Compute<T> x) {
  if constexpr (std::is_same_v<T, Compute<T>>)
    return x <= 0;
  else
    return x <= T::kMostToZero;
}

}  // namespace lethe

/// Only what holds for Compute<T> too.
template <class Format>
struct std::numeric_limits<lethe::LowFloat<Format>> {
  static constexpr bool is_integer = false;
};
