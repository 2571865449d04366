// What 8 bits mean in numbers of which few are large (Dettmers, "8-Bit Approximations for Parallelism in Deep
// Learning", 2015; bitsandbytes' create_dynamic_map, to the bit): for each of seven decades i, 10^(i-7) to 10^(i-6), the
// middles of 2^i equal parts of it, 2^(i+1) without a sign; and 0, and 1. Codes are in the order of values: with a sign
// 127 is 0, 128 the least above it and 126 its negative, without one 0 is 0; 255 is 1.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lethe {

/// The power of ten that ends decade i, 0 to 6.
constexpr float end_of_decade(int i) {
  const float ends[] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1.0f};
  return ends[i];
}

/// a * b + c, rounded once: products of a step and a whole number, which f64 holds exactly.
constexpr float dynamic_fma(float a, float b, float c) {
  if (std::is_constant_evaluated()) return static_cast<float>(double{a} * double{b} + double{c});
  return std::fma(a, b, c);
}

/// Between parts j - 1 and j of n equal ones of 0.1 to 1: counted from the nearer end, as torch.linspace does.
constexpr float dynamic_boundary(int j, int n) {
  const float step = (1.0f - 0.1f) / static_cast<float>(n);
  return j < (n + 1) / 2 ? dynamic_fma(step, static_cast<float>(j), 0.1f)
                         : dynamic_fma(-step, static_cast<float>(n - j), 1.0f);
}

/// Code of 0, and the number of parts of the first decade.
template <bool kSigned>
inline constexpr int kDynamicZero = kSigned ? 127 : 0;
template <bool kSigned>
inline constexpr int kDynamicParts = kSigned ? 1 : 2;

/// What code kDynamicZero + place means, with place above 0.
template <bool kSigned>
constexpr float dynamic_magnitude(int place) {
  if (place == 255 - kDynamicZero<kSigned>) return 1;
  int i = 0, n = kDynamicParts<kSigned>;
  int j = place - 1;
  for (; j >= n; ++i, n *= 2) j -= n;
  return end_of_decade(i) * ((dynamic_boundary(j, n) + dynamic_boundary(j + 1, n)) / 2);
}

template <bool kSigned>
constexpr float dynamic_value(int code) {
  const int place = code - kDynamicZero<kSigned>;
  return place == 0 ? 0 : place > 0 ? dynamic_magnitude<kSigned>(place) : -dynamic_magnitude<kSigned>(-place);
}

}  // namespace lethe
