// The gradient of batch norm over [rows, channels], both devices: two sums by column, then one pass.
#pragma once
#include <array>
#include <cmath>

#include "kernels/low_floats.h"
#include "kernels/packs.h"

namespace lethe {

/// Sums of dy and of dy * (x - mean).
template <class T>
struct GradSums {
  using Terms = std::array<Compute<T>, 2>;
  using Mean = std::array<Compute<T>, 1>;
  const T *x, *dy;
  HD static Terms terms_of(Compute<T> x, Compute<T> dy, const Mean& mean) { return {dy, dy * (x - mean[0])}; }
  HD Terms operator()(std::int64_t i, const Mean& mean) const { return terms_of(x[i], dy[i], mean); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Mean* means, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(of_x.at[v], of_dy.at[v], means[v]);
  }
};

/// dscale and dbias, and the factors of `NormalizeGrad`. If mean and variance are functions of x,
/// dx = scale/s * (dy - dbias/n - (x - mean)/s * dscale/n) with s = sqrt(var + eps); if not, the first term alone.
template <class T>
struct GradFactors {
  double count, eps;
  bool fixed;  // mean and variance do not depend on x
  const T *scale, *var;
  T *dscale, *dbias, *of_dy, *of_x, *offset;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& sums) const {
    const double inverse = 1 / std::sqrt(static_cast<double>(var[c]) + eps);
    const double factor = (scale ? static_cast<double>(scale[c]) : 1) * inverse;
    dscale[c] = static_cast<T>(sums[1] * inverse);
    dbias[c] = static_cast<T>(sums[0]);
    of_dy[c] = static_cast<T>(factor);
    of_x[c] = static_cast<T>(fixed ? 0 : -factor * inverse * inverse * sums[1] / count);
    offset[c] = static_cast<T>(fixed ? 0 : -factor * sums[0] / count);
  }
};

/// dx = of_dy * dy + of_x * (x - mean) + offset.
template <class T>
struct NormalizeGrad {
  const T *x, *dy;
  T* dx;
  HD static Compute<T> value(Compute<T> x, Compute<T> dy, const std::array<Compute<T>, 4>& v) {
    return v[1] * dy + (v[2] * (x - v[0]) + v[3]);
  }
  HD void operator()(std::int64_t i, const std::array<Compute<T>, 4>& v) const { dx[i] = value(x[i], dy[i], v); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy, dx}); }
  template <int V, class Values>
  HD void pack(std::int64_t i, const Values& values) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    Pack<T, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = value(of_x.at[k], of_dy.at[k], values(k));
    store_pack(dx + i, to);
  }
};

}  // namespace lethe
