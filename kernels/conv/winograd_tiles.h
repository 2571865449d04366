// The transforms of F(n x n, k x k) with n + k = 7, after Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (2015): a tile of n x n outputs of a k x k kernel out of 36 products: for 3 x 3 kernels in place of 144,
// for 5 x 5 of 100. Image, kernel and outputs are polynomials; they are taken to their values at the points 0, 1, -1,
// 2, -2 and infinity, multiplied there, and taken back: along rows and then along columns, for a vector of channels at
// once.
#pragma once
#include "kernels/cpu/lanes.h"

namespace lethe::winograd {

inline constexpr int kPoints = 6, kPlaces = kPoints * kPoints;  // of a line, of a tile

/// The sum of every second term, from `First` on, by `factor(index)`; those of factor 0 cost nothing.
template <int First, int Count, class Factor>
[[gnu::always_inline]] inline Lanes every_second(const Lanes* terms, const Factor& factor) {
  Lanes sum = {};
#pragma GCC unroll 3
  for (int i = First; i < Count; i += 2)
    if (factor(i) != 0) sum += factor(i) * terms[i];
  return sum;
}

/// Even and odd terms to the values at a point and at its negative.
template <int Count, class Factor>
[[gnu::always_inline]] inline void at_both(const Lanes* terms, const Factor& factor, Lanes* values) {
  const Lanes even = every_second<0, Count>(terms, factor), odd = every_second<1, Count>(terms, factor);
  values[0] = even + odd, values[1] = even - odd;
}

/// B^T: of six pixels of an image.
struct OfImage {
  static constexpr int in = kPoints, out = kPoints;
  static void apply(const Lanes* d, Lanes* values) {
    constexpr float one[] = {0, -4, -4, 1, 1, 0}, two[] = {0, -2, -1, 2, 1, 0};
    values[0] = 4 * d[0] - 5 * d[2] + d[4];
    at_both<in>(
        d, [&](int i) { return one[i]; }, values + 1);
    at_both<in>(
        d, [&](int i) { return two[i]; }, values + 3);
    values[5] = 4 * d[1] - 5 * d[3] + d[5];
  }
};

/// G: of a line of a kernel; and of outputs' gradients, which in the kernel's gradient slide over the image as it does.
template <int Count>
struct OfKernel {
  static constexpr int in = Count, out = kPoints;
  static void apply(const Lanes* g, Lanes* values) {
    values[0] = g[0] * 0.25F;
    at_both<in>(
        g, [](int) { return -1.0F / 6; }, values + 1);
    at_both<in>(
        g, [](int i) { return static_cast<float>(1 << i) / 24; }, values + 3);
    values[5] = g[Count - 1];
  }
};

/// A^T: back, to a line of outputs or of the kernel's gradient.
template <int Count>
struct ToOutputs {
  static constexpr int in = kPoints, out = Count;
  static void apply(const Lanes* m, Lanes* y) {
    const Lanes ones[] = {m[1] + m[2], m[1] - m[2]}, twos[] = {m[3] + m[4], m[3] - m[4]};
#pragma GCC unroll 5
    for (int i = 0; i < Count; ++i) y[i] = ones[i % 2] + static_cast<float>(1 << i) * twos[i % 2];
    y[0] += m[0];
    y[Count - 1] += m[5];
  }
};

/// A square in both directions; `get(row, column)` and `put(row, column, lanes)`. Some columns at a time, so that what
/// is in between stays in registers.
template <class Transform, class Get, class Put>
[[gnu::always_inline]] inline void transform(const Get& get, const Put& put) {
  constexpr int in = Transform::in, out = Transform::out, columns = out == 6 ? 3 : out == 4 ? 2 : out;
#pragma GCC unroll 2
  for (int first = 0; first < out; first += columns) {
    Lanes half[columns][in];
#pragma GCC unroll 6
    for (int r = 0; r < in; ++r) {
      Lanes row[in], all[out];
#pragma GCC unroll 6
      for (int c = 0; c < in; ++c) row[c] = get(r, c);
      Transform::apply(row, all);
#pragma GCC unroll 5
      for (int c = 0; c < columns; ++c) half[c][r] = all[first + c];
    }
#pragma GCC unroll 5
    for (int c = 0; c < columns; ++c) {
      Lanes column[out];
      Transform::apply(half[c], column);
#pragma GCC unroll 6
      for (int r = 0; r < out; ++r) put(r, first + c, column[r]);
    }
  }
}

}  // namespace lethe::winograd
