// Norms of rows, both devices. Layer norm, and with kCentred false RMS norm (Zhang and Sennrich, "Root mean square
// layer normalization", 2019), which is the same for a mean of 0:
//   y = (x - mean) * inverse * weight + bias, inverse = 1 / sqrt(mean of (x - mean)^2 + eps).
// Of RMS norm the weight may be what a number differs from it by, `offset`. Mean and inverse, one of each a row, are
// kept for the gradient. x may be the sum of two, which is rounded, and written for others, on the way.
#pragma once
#include <cmath>

#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/rows.h"

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
  C offset = 0;       // of the weight, if not kCentred
  // Where x is in + added, it goes to `sum`, which may be in the memory of either; else null.
  const T* added = nullptr;
  T* sum = nullptr;

  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(length, [&](auto V) { run<V>(team, row); });
  }
  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return length / together<T>(length); }

 private:
  /// A team that reads x again and again makes the sum first: it may stand in the memory of what is added.
  template <int V, class Team>
  HD auto source(const Team& team, std::int64_t first) const {
    const std::int64_t of_sum = added ? first : 0;
    const SumPacks<V, T> made{{in + first, packed}, {added + of_sum, packed}, {sum + of_sum, packed}};
    if constexpr (Team::kHolds) {
      return made;
    } else {
      if (added) team.each(length / V, [&](auto i) { made[i]; });
      return RowPacks<V, const T>{(added ? sum : in) + first, packed};
    }
  }

  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row) const {
    const std::int64_t packs = length / V;
    const auto x = team.hold(packs, source<V>(team, row * length));
    C centre = 0;
    if constexpr (kCentred) {
      const auto sum = [&](auto i) {
        const auto of_x = x[i];
        return sum_in_pack<V>([&](int v) { return compute(of_x.at[v]); });
      };
      centre = static_cast<C>(mean_of(team.sum(packs, sum), length));
    }
    const auto squares = [&](auto i) {
      const auto of_x = x[i];
      return sum_in_pack<V>([&](int v) { return (of_x.at[v] - centre) * (of_x.at[v] - centre); });
    };
    const auto variance = mean_of(team.sum(packs, squares), length);
    const C by = static_cast<C>(1 / std::sqrt(variance + static_cast<decltype(variance)>(eps)));
    if (bias)
      write<V, true>(team, x, row, centre, by);
    else
      write<V, false>(team, x, row, centre, by);
    if (!team.leads()) return;
    if constexpr (kCentred) mean[row] = centre;
    inverse[row] = by;
  }
  template <int V, bool kBias, class Team, class X>
  HD void write(const Team& team, const X& x, std::int64_t row, C centre, C by) const {
    const RowPacks<V, const C> w{weight, packed}, b{kBias ? bias : weight, packed};
    const RowPacks<V, T> y{out + row * length, packed};
    const C more = offset;  // no store changes it
    team.each(length / V, [&](auto i) {
      const auto of_x = x[i];
      const auto of_w = w[i], of_b = b[i];
      y.set(i, pack_of<T, V>([&](int v) {
              const C scaled = (of_x[v] - centre) * by * (kCentred ? of_w[v] : more + of_w[v]);
              return kBias ? scaled + of_b[v] : scaled;
            }));
    });
  }
};

}  // namespace lethe
