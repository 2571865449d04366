// The gradient of batch norm over [rows, channels], both devices: two sums by column, then one pass. With kMasked it is
// that of batch norm and the relu after it: dy counts where y is not at most 0, and y is computed from x once more.
#pragma once
#include <array>
#include <cmath>

#include "kernels/low_floats.h"
#include "kernels/norm/normalize.h"
#include "kernels/packs.h"

namespace lethe {

/// dy where `Normalize` gave more than 0, or NaN; `values` begins with what it reads: mean, factor and offset.
template <class T, bool kMasked, std::size_t P>
HD Compute<T> masked(Compute<T> x, Compute<T> dy, const std::array<Compute<T>, P>& values) {
  if constexpr (kMasked) {
    using Plain = Normalize<T, NoActivation, Added::Nothing>;
    const Compute<T> y = Plain::unrounded(x, values[0], values[1], values[2]);
    return rounds_to_at_most_zero<T>(y) ? Compute<T>(0) : dy;
  }
  return dy;
}

/// Sums of dy and of dy * (x - mean), of columns mean, or mean, factor and offset.
template <class T, bool kMasked>
struct GradSums {
  static constexpr std::size_t kColumns = kMasked ? 3 : 1;
  using Terms = std::array<Compute<T>, 2>;
  using Values = std::array<Compute<T>, kColumns>;
  const T *x, *dy;
  HD static Terms terms_of(Compute<T> x, Compute<T> dy, const Values& v) {
    const Compute<T> d = masked<T, kMasked>(x, dy, v);
    return {d, d * (x - v[0])};
  }
  HD Terms operator()(std::int64_t i, const Values& v) const { return terms_of(x[i], dy[i], v); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Values* of, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(of_x.at[v], of_dy.at[v], of[v]);
  }
};

/// dscale and dbias, and what `NormalizeGrad` reads besides the mean; `offset` is null where it does not. If mean and
/// variance are functions of x, dx = scale/s * (dy - dbias/n - (x - mean)/s * dscale/n) with s = sqrt(var + eps); if
/// not, the first term alone.
template <class T>
struct GradFactors {
  double count, eps;
  bool fixed;  // mean and variance do not depend on x
  const T *scale, *bias, *var;
  T *dscale, *dbias, *factor, *offset, *of_x, *rest;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& sums) const {
    const double inverse = 1 / std::sqrt(static_cast<double>(var[c]) + eps);
    const double by = factor_of(scale ? static_cast<double>(scale[c]) : 1, static_cast<double>(var[c]), eps);
    dscale[c] = static_cast<T>(sums[1] * inverse);
    dbias[c] = static_cast<T>(sums[0]);
    factor[c] = static_cast<T>(by);
    if (offset) offset[c] = bias ? bias[c] : T(0);
    of_x[c] = static_cast<T>(fixed ? 0 : -by * inverse * inverse * sums[1] / count);
    rest[c] = static_cast<T>(fixed ? 0 : -by * sums[0] / count);
  }
};

/// dx = factor * dy + of_x * (x - mean) + rest, of columns mean, factor, offset, of_x and rest.
template <class T, bool kMasked>
struct NormalizeGrad {
  using Values = std::array<Compute<T>, 5>;
  const T *x, *dy;
  T* dx;
  HD static Compute<T> value(Compute<T> x, Compute<T> dy, const Values& v) {
    return v[1] * masked<T, kMasked>(x, dy, v) + (v[3] * (x - v[0]) + v[4]);
  }
  HD void operator()(std::int64_t i, const Values& v) const { dx[i] = value(x[i], dy[i], v); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy, dx}); }
  template <int V>
  HD void pack(std::int64_t i, const Values* values) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    Pack<T, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = value(of_x.at[k], of_dy.at[k], values[k]);
    store_pack(dx + i, to);
  }
};

}  // namespace lethe
