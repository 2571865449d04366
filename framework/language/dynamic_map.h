// What 8 bits mean in numbers of which few are large (Dettmers, "8-Bit Approximations for Parallelism in Deep
// Learning", 2015; bitsandbytes' create_dynamic_map, to the bit): for each of seven decades i, 10^(i-7) to 10^(i-6),
// the middles of 2^i equal parts of it, 2^(i+1) without a sign; and 0, and 1. Codes are in the order of values: with a
// sign 127 is 0, 128 the least above it and 126 its negative, without one 0 is 0; 255 is 1.
#pragma once
#include <array>
#include <cmath>
#include <type_traits>

namespace lethe {

inline constexpr int kDynamicDecades = 7;

/// The code of 0, after which come those of the first decade, which has so many parts.
template <bool kSigned>
inline constexpr int kDynamicZero = kSigned ? 127 : 0;
template <bool kSigned>
inline constexpr int kDynamicParts = kSigned ? 1 : 2;

/// The power of ten that ends decade i.
constexpr float end_of_decade(int i) {
  const float ends[kDynamicDecades] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1.0f};
  return ends[i];
}

/// a * b + c, rounded once; b: a whole number, so that f64 holds all of it.
constexpr float fma_of_whole(float a, float b, float c) {
  if (std::is_constant_evaluated()) return static_cast<float>(double{a} * double{b} + double{c});
  return std::fma(a, b, c);
}

/// Between parts j - 1 and j of n equal ones of 0.1 to 1: from the nearer end, as torch.linspace takes it.
constexpr float part_boundary(int j, int n) {
  const float step = (1.0f - 0.1f) / static_cast<float>(n);
  return j < (n + 1) / 2 ? fma_of_whole(step, static_cast<float>(j), 0.1f)
                         : fma_of_whole(-step, static_cast<float>(n - j), 1.0f);
}

/// What code kDynamicZero + place means; place: at least 0.
template <bool kSigned>
constexpr float dynamic_magnitude(int place) {
  if (place == 0) return 0;
  if (place == 255 - kDynamicZero<kSigned>) return 1;
  int i = 0, n = kDynamicParts<kSigned>, j = place - 1;
  for (; j >= n; ++i, n *= 2) j -= n;
  return end_of_decade(i) * ((part_boundary(j, n) + part_boundary(j + 1, n)) / 2);
}

template <bool kSigned>
inline constexpr std::array<float, 256> kDynamicValues = [] {
  std::array<float, 256> values{};
  for (int code = 0; code < 256; ++code) {
    const int place = code - kDynamicZero<kSigned>;
    values[code] = place < 0 ? -dynamic_magnitude<kSigned>(-place) : dynamic_magnitude<kSigned>(place);
  }
  return values;
}();

/// What a code means: a GPU computes it.
template <bool kSigned>
constexpr float dynamic_value(int code) {
#ifdef __CUDA_ARCH__
  const int place = code - kDynamicZero<kSigned>;
  return place < 0 ? -dynamic_magnitude<kSigned>(-place) : dynamic_magnitude<kSigned>(place);
#else
  return kDynamicValues<kSigned>[code];
#endif
}

/// Whether a is above the middle between what two neighbouring places mean; a, low, high: at least 0, low < high.
constexpr bool above_middle(float a, float low, float high) {
  const float twice = a + a, sum = low + high, left = low - (sum - high);  // sum + left: low + high, not rounded
  return twice > sum || (twice == sum && left < 0);
}

/// The code of the value nearest to x, of two the one nearer to 0; x: -1 to 1, without a sign 0 to 1. Of what is no
/// number that of 0. dynamic_codes.h has the same for a CPU.
template <bool kSigned>
constexpr int dynamic_code(float x) {
  constexpr int kZero = kDynamicZero<kSigned>;
  const float a = x < 0 ? -x : x;
  const int i = (a >= 1e-6f) + (a >= 1e-5f) + (a >= 1e-4f) + (a >= 1e-3f) + (a >= 1e-2f) + (a >= 1e-1f);
  const int n = kDynamicParts<kSigned> << i;
  float of_decade = a >= 1e-1f ? a : a * 1e1f;  // 0.1 to 1
  of_decade = a >= 1e-2f ? of_decade : a * 1e2f;
  of_decade = a >= 1e-3f ? of_decade : a * 1e3f;
  of_decade = a >= 1e-4f ? of_decade : a * 1e4f;
  of_decade = a >= 1e-5f ? of_decade : a * 1e5f;
  of_decade = a >= 1e-6f ? of_decade : a * 1e6f;
  const float part = (of_decade - 0.1f) * (static_cast<float>(n) * (1 / 0.9f));
  const int whole = part > 0 ? static_cast<int>(part) : 0, j = whole < n ? whole : n - 1;  // it may be the one beside
  const int at = kZero + n - kDynamicParts<kSigned> + 1 + j;
  const float low = dynamic_value<kSigned>(at - 1), here = dynamic_value<kSigned>(at),
              high = dynamic_value<kSigned>(at + 1);
  const int nearest = at - kZero + above_middle(a, here, high) - !above_middle(a, low, here);
  const int code = kZero + (x < 0 ? -nearest : nearest);
  return code > 0 ? code : 0;  // there is no -1
}

}  // namespace lethe
