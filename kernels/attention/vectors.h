// Vectors and products in f32 and f64 for tiles of attention. Sources that include this are compiled with
// floating-point contraction.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/cpu/lanes.h"

namespace lethe::attention {

/// As long as the processor's.
template <class C>
struct VectorOf {
  static constexpr std::int64_t kSize = sizeof(simd::Lanes) / sizeof(C);
  using Type [[gnu::vector_size(sizeof(simd::Lanes))]] = C;
};
template <class C>
using Vector = typename VectorOf<C>::Type;
template <class C>
inline constexpr std::int64_t kWidth = VectorOf<C>::kSize;

template <class C>
Vector<C> load(const C* from) {
  Vector<C> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class C>
void store(const V& v, C* to) {
  std::memcpy(to, &v, sizeof v);
}
template <class V>
V larger(const V& a, const V& b) {
  return a > b ? a : b;
}

/// 2^x for x that is not large, 0 below -126. With n the whole number next to x: 2^(x - n) by a polynomial (relative
/// error 3e-9), times 2^n, whose bits are those of n moved up.
inline Vector<float> exp2_of(const Vector<float>& x) {
  constexpr float kWhole = 1.5F * (1 << 23);  // added to a small number it leaves a whole one in the lowest bits
  const Vector<float> least = Vector<float>{} - 126.0F, in = x < least ? least : x;
  const Vector<float> whole = in + kWhole, f = in - (whole - kWhole);
  Vector<float> p = f * 1.54614447e-4F + 1.34004282e-3F;
  p = p * f + 9.61805668e-3F;
  p = p * f + 5.55032723e-2F;
  p = p * f + 2.40226509e-1F;
  p = p * f + 6.93147207e-1F;
  p = p * f + 1.0F;
  using Bits [[gnu::vector_size(sizeof(simd::Lanes))]] = std::uint32_t;
  const Bits power = (std::bit_cast<Bits>(whole) << 23) + (127U << 23);
  return x < least ? Vector<float>{} : p * std::bit_cast<Vector<float>>(power);
}
/// e^x of a score less what is at least the largest, so at most 1: as far as x is above 0, it is there by rounding.
inline Vector<float> share_of(Vector<float> x) {
  constexpr float kLog2E = 1.44269504F;
  x = x > 0 ? Vector<float>{} : x;
  return exp2_of(x * kLog2E);
}
inline Vector<double> share_of(Vector<double> x) {
  for (std::int64_t i = 0; i < kWidth<double>; ++i) x[i] = std::exp(x[i] > 0 ? 0 : x[i]);
  return x;
}

/// c[m, n] = or += a[m, depth] b[depth, n], as simd::product.
template <class C>
struct Factor {
  const C* data;
  std::int64_t row, step;
};
template <class C>
struct Panels {
  const C* data;
  std::int64_t row, panel;
};
template <bool Adds>
void product(std::int64_t m, std::int64_t n, std::int64_t depth, Factor<float> a, Panels<float> b, float* c,
             std::int64_t c_row) {
  simd::product<Adds>(m, n, depth, {a.data, a.row, a.step}, {b.data, b.row, b.panel}, c, c_row);
}
template <bool Adds>
void product(std::int64_t m, std::int64_t n, std::int64_t depth, Factor<double> a, Panels<double> b, double* c,
             std::int64_t c_row) {
  constexpr std::int64_t panel = simd::kPanel;
  for (std::int64_t column = 0; column < n; column += panel, b.data += b.panel)
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t columns = std::min(panel, n - column);
      double* const to = c + i * c_row + column;
      double sum[panel] = {};
      for (std::int64_t d = 0; d < depth; ++d)
        for (std::int64_t j = 0; j < columns; ++j) sum[j] += a.data[i * a.row + d * a.step] * b.data[d * b.row + j];
      for (std::int64_t j = 0; j < columns; ++j) to[j] = Adds ? to[j] + sum[j] : sum[j];
    }
}

}  // namespace lethe::attention
