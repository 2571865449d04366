// The transforms of F(n x n, k x k) with n + k = 7, after Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (2015): a tile of n x n outputs of a k x k kernel out of 36 products: for 3 x 3 kernels in place of 144,
// for 5 x 5 of 100. Image, kernel and outputs are polynomials; they are taken to their values at six points (0, two
// numbers, their negatives, infinity), multiplied there, and taken back: along rows and then along columns, for a
// vector of channels at once. Any two numbers do; these round half as much as the usual 1 and 2 (Barabasz and others,
// "Error Analysis and Improving the Accuracy of Winograd Convolution", 2018), and what is made of them but 1/N is
// exact.
#pragma once
#include "kernels/low_lanes.h"

namespace lethe::winograd {

using namespace simd;

inline constexpr int kPoints = 6, kPlaces = kPoints * kPoints;  // of a line, of a tile
inline constexpr float kSmall = 0.625F, kLarge = 1.5F;

constexpr float square(float x) { return x * x; }
constexpr float power(float x, int n) { return n == 0 ? 1 : x * power(x, n - 1); }

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

/// B^T: of six pixels of an image. Its rows are the polynomial with all points as roots over that with one of them.
struct OfImage {
  static constexpr int in = kPoints, out = kPoints;
  static constexpr float product = square(kSmall) * square(kLarge), sum = square(kSmall) + square(kLarge);

  static void apply(const Lanes* d, Lanes* values) {
    values[0] = product * d[0] - sum * d[2] + d[4];
    at_both<in>(
        d, [](int i) { return row(kSmall, kLarge, i); }, values + 1);
    at_both<in>(
        d, [](int i) { return row(kLarge, kSmall, i); }, values + 3);
    values[5] = product * d[1] - sum * d[3] + d[5];
  }

 private:
  static constexpr float row(float point, float other, int i) {
    return i == 1 ? -point * square(other) : i == 2 ? -square(other) : i == 3 ? point : i == 4 ? 1 : 0;
  }
};

/// G: of a line of a kernel; and of outputs' gradients, which in the kernel's gradient slide over the image as it does.
template <int Count>
struct OfKernel {
  static constexpr int in = Count, out = kPoints;

  static void apply(const Lanes* g, Lanes* values) {
    values[0] = g[0] * (1 / OfImage::product);
    at_both<in>(
        g, [](int i) { return row(kSmall, kLarge, i); }, values + 1);
    at_both<in>(
        g, [](int i) { return row(kLarge, kSmall, i); }, values + 3);
    values[5] = g[Count - 1];
  }

 private:
  static constexpr float row(float point, float other, int i) {
    return power(point, i) / (2 * square(point) * (square(point) - square(other)));  // N
  }
};

/// A^T: back, to a line of outputs or of the kernel's gradient.
template <int Count>
struct ToOutputs {
  static constexpr int in = kPoints, out = Count;
  static void apply(const Lanes* m, Lanes* y) {
    const Lanes small[] = {m[1] + m[2], m[1] - m[2]}, large[] = {m[3] + m[4], m[3] - m[4]};
#pragma GCC unroll 5
    for (int i = 0; i < Count; ++i) y[i] = power(kSmall, i) * small[i % 2] + power(kLarge, i) * large[i % 2];
    y[0] += m[0];
    y[Count - 1] += m[5];
  }
};

}  // namespace lethe::winograd
