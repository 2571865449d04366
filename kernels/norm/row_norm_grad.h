// The gradient of a norm of rows (row_norm.h), both devices: by row for x, by column for weight and bias.
#pragma once
#include <array>

#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/rows.h"
#include "kernels/reduce/sums.h"

namespace lethe {

/// With h = (x - mean) * inverse: dx = inverse * (g - mean(g) - h * mean(g * h)) for g = dy * weight; mean(g) is there
/// only if the row was centred.
template <class T, bool kCentred>
struct NormGradRow {
  using C = Compute<T>;
  std::int64_t length;
  const T* in;
  const C *weight, *mean, *inverse;
  const T* dy;
  T* out;
  bool packed;
  C offset = 0;  // of the weight, if not kCentred

  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(length, [&](auto V) { run<V>(team, row); });
  }
  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return length / together<T>(length); }

 private:
  HD static C full(C held, C offset) { return kCentred ? held : offset + held; }
  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row) const {
    const RowPacks<V, const C> w{weight, packed};
    const RowPacks<V, T> dx{out + row * length, packed};
    const C centre = kCentred ? mean[row] : C(0), by = inverse[row], more = offset;
    const std::int64_t packs = length / V;
    const auto x = team.hold(packs, RowPacks<V, const T>{in + row * length, packed});
    const auto g = team.hold(packs, RowPacks<V, const T>{dy + row * length, packed});
    C first = 0;
    if constexpr (kCentred) {
      const auto sum = [&](auto i) {
        const auto of_g = g[i];
        const auto of_w = w[i];
        return sum_in_pack<V>([&](int v) { return of_g.at[v] * of_w.at[v]; });
      };
      first = static_cast<C>(mean_of(team.sum(packs, sum), length));
    }
    // By value: a CPU's compiler would read what it refers to again for each element of bf16.
    const auto products = [=](auto i) {
      const auto of_x = x[i], of_g = g[i];
      const auto of_w = w[i];
      return sum_in_pack<V>([&](int v) { return of_g.at[v] * full(of_w.at[v], more) * ((of_x.at[v] - centre) * by); });
    };
    const C second = static_cast<C>(mean_of(team.sum(packs, products), length));
    team.each(packs, [&](auto i) {
      const auto of_x = x[i], of_g = g[i];
      const auto of_w = w[i];
      Pack<T, V> to;
      for (int v = 0; v < V; ++v)
        to.at[v] = by * (of_g[v] * full(of_w[v], more) - first - (of_x[v] - centre) * by * second);
      dx.set(i, to);
    });
  }
};

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
