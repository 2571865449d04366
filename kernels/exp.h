// exp in arithmetic alone where the CPU computes in f32, so that loops over it vectorise; a library's function is
// called for one element at a time. Within 2 units in the last place.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/device_code.h"

namespace lethe {

HD inline double exp_of(double x) { return std::exp(x); }

/// 2^n for |n| <= 126.
HD inline float power_of_two(std::int32_t n) { return std::bit_cast<float>((n + 127) << 23); }

/// exp(x) = 2^n * exp(r) with n whole and |r| <= log(2) / 2, whose series ends at r^7. Beyond what f32 holds: 0 or
/// infinity.
HD inline float exp_of(float x) {
#ifdef __CUDA_ARCH__
  return std::exp(x);
#else
  constexpr float kReach = 104.F;
  constexpr float kLog2e = 1.44269504F, kLog2High = 0.693359375F, kLog2Low = -2.12194440e-4F;  // log(2) in two parts
  constexpr float kRound = 12582912.F;  // 1.5 * 2^23: what is added to it is rounded to whole numbers
  constexpr float kTerms[] = {1.F / 720, 1.F / 120, 1.F / 24, 1.F / 6, 0.5F, 1.F, 1.F};
  const float within = std::fabs(x) > kReach ? std::copysign(kReach, x) : x;  // NaN stays
  const float shifted = within * kLog2e + kRound, n = shifted - kRound;
  const float r = (within - n * kLog2High) - n * kLog2Low;
  float series = 1.F / 5040;
  for (const float term : kTerms) series = series * r + term;
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const std::int32_t half = whole >> 1;  // no float holds 2^128
  return series * power_of_two(half) * power_of_two(whole - half);
#endif
}

/// 1 / (1 + exp(-x)).
template <class T>
HD T logistic(T x) {
  return T(1) / (T(1) + exp_of(-x));
}

}  // namespace lethe
