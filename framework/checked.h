// Arithmetic on sizes: of shapes, elements, bytes, paddings and windows. What 64 bits do not hold is an error and never
// wraps around to a wrong size.
#pragma once
#include <cstdint>

#include "framework/error.h"

namespace lethe {

/// a + b; fails with `what` it would be.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail(what, " is too large: ", a, " + ", b);
  return sum;
}

/// a * b; fails with `what` it would be.
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail(what, " is too large: ", a, " * ", b);
  return product;
}

/// Positions of one axis between the first and the last place of a kernel: (k - 1) * dilation + 1.
inline std::int64_t reach_of(std::int64_t k, std::int64_t dilation) {
  return checked_add(checked_mul(k - 1, dilation, "the reach of a kernel"), 1, "the reach of a kernel");
}

/// Positions of one axis with the padding on both of its sides.
inline std::int64_t padded_size(std::int64_t in, std::int64_t pad) {
  return checked_add(in, checked_mul(2, pad, "a padding"), "a padded size");
}

}  // namespace lethe
