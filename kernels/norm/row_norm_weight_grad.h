// The gradient of a norm of rows (row_norm.h) by weight and bias, both devices: sums by column.
#pragma once
#include <array>

#include "kernels/packs.h"
#include "kernels/reduce/sums.h"

namespace lethe {

/// Over the rows: dy * (x - mean) * inverse, and of a centred norm dy, which has a bias.
template <class T, bool kCentred>
struct NormWeightTerms {
  using Terms = std::array<Compute<T>, kCentred ? 2 : 1>;
  using Nothing = std::array<Compute<T>, 0>;
  const T *x, *dy;
  const Compute<T>*mean, *inverse;
  HD Terms terms_of(std::int64_t row, Compute<T> x, Compute<T> dy) const {
    if constexpr (kCentred)
      return {dy * ((x - mean[row]) * inverse[row]), dy};
    else
      return {dy * (x * inverse[row])};
  }
  HD Terms operator()(std::int64_t row, std::int64_t i, const Nothing&) const { return terms_of(row, x[i], dy[i]); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy}); }
  template <int V>
  HD void pack(std::int64_t row, std::int64_t i, const Nothing*, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(row, of_x.at[v], of_dy.at[v]);
  }
};

template <class C, std::size_t N>
struct StoreWeightGrads {
  C* grads[N];
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, N>& sums) const {
    for (int n = 0; n < static_cast<int>(N); ++n) grads[n][c] = static_cast<C>(sums[n]);
  }
};

}  // namespace lethe
