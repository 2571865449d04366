// Norms of rows, both devices. Layer norm, and with kCentred false RMS norm (Zhang and Sennrich, "Root mean square
// layer normalization", 2019), which is the same for a mean of 0:
//   y = (x - mean) * inverse * weight + bias, inverse = 1 / sqrt(mean of (x - mean)^2 + eps).
// Mean and inverse, one of each a row, are kept for the gradient.
#pragma once
#include <cmath>

#include "kernels/norm/row_packs.h"

namespace lethe {

template <class T, bool kCentred>
struct NormRow {
  using C = Compute<T>;
  std::int64_t length;
  double eps;
  const T* in;
  const C *weight, *bias;  // no bias: null
  T* out;
  C *mean, *inverse;  // not kCentred: mean is not written
  bool packed;        // whether packs may be read and written at all of these

  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    constexpr int V = kTogether<T, Team>;
    if (length % V == 0)
      run<V>(team, row);
    else
      run<1>(team, row);
  }

 private:
  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row) const {
    const RowPacks<V, const T> x{in + row * length, packed};
    const double n = static_cast<double>(length);
    const std::int64_t packs = length / V;
    C centre = 0;
    if constexpr (kCentred) {
      const auto sum = [=](std::int64_t i) {
        const auto of_x = x[i];
        return sum_in_pack<V>([&](int v) { return compute(of_x.at[v]); });
      };
      centre = static_cast<C>(team.sum(packs, sum) / n);
    }
    const auto squares = [=](std::int64_t i) {
      const auto of_x = x[i];
      return sum_in_pack<V>([&](int v) { return (of_x.at[v] - centre) * (of_x.at[v] - centre); });
    };
    const C by = static_cast<C>(1 / std::sqrt(team.sum(packs, squares) / n + eps));
    if (bias)
      write<V, true>(team, x, row, centre, by);
    else
      write<V, false>(team, x, row, centre, by);
    if (!team.leads()) return;
    if constexpr (kCentred) mean[row] = centre;
    inverse[row] = by;
  }
  template <int V, bool kBias, class Team>
  HD void write(const Team& team, const RowPacks<V, const T>& x, std::int64_t row, C centre, C by) const {
    const RowPacks<V, const C> w{weight, packed}, b{kBias ? bias : weight, packed};
    const RowPacks<V, T> y{out + row * length, packed};
    team.each(length / V, [=](std::int64_t i) {
      const auto of_x = x[i];
      const auto of_w = w[i], of_b = b[i];
      Pack<T, V> to;
      for (int v = 0; v < V; ++v) {
        const C scaled = (of_x.at[v] - centre) * by * of_w.at[v];
        to.at[v] = kBias ? scaled + of_b.at[v] : scaled;
      }
      y.set(i, to);
    });
  }
};

/// Of a norm of `x`: weight or bias; mean or inverse.
inline Type weight_of_rows(const Var& x) { return {{x.shape.back()}, wide_of(x.dtype)}; }
inline Type one_a_row(const Var& x) { return {Shape(x.shape.begin(), x.shape.end() - 1), wide_of(x.dtype)}; }

}  // namespace lethe
