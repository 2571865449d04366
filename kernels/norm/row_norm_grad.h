// The gradient of a norm of rows (row_norm.h) by its input, both devices, and on the way what those of weight and bias
// sum over the rows.
#pragma once
#include "kernels/norm/norm_terms.h"
#include "kernels/reduce/row_packs.h"

namespace lethe {

/// With h = (x - mean) * inverse: dx = inverse * (g - mean(g) - h * mean(g * h)) for g = dy * weight; mean(g) is there
/// only if the row was centred. What is `added` comes on top of dx as it is rounded, as an op of its own would add it.
template <class T, bool kCentred>
struct NormGradRow {
  using Element = T;
  using C = Compute<T>;
  static constexpr int kTerms = kCentred ? 2 : 1;
  std::int64_t length;
  const T* in;
  const C *weight, *mean, *inverse;
  const T* dy;
  T* out;
  bool packed;
  C offset = 0;              // of the weight, if not kCentred
  const T* added = nullptr;  // none: null

  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(length, [&](auto V) { run<V>(team, row, NoNormSums{}); });
  }
  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return length / together<T>(length); }
  /// V elements at a time; sums.add(i, terms) is told of pack i that terms(v) are those of its element v.
  template <int V, class Team, class Sums>
  HD void run(const Team& team, std::int64_t row, Sums&& sums) const {
    const RowPacks<V, const C> w{weight, packed};
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
    const auto own = [=](C of_x, C of_g, C of_w) {
      return by * (of_g * full(of_w, more) - first - (of_x - centre) * by * second);
    };
    const auto terms = [=](C of_x, C of_g) { return norm_terms<kCentred>(of_x, of_g, centre, by); };
    if (added)
      write<V, true>(team, x, g, row, own, terms, sums);
    else
      write<V, false>(team, x, g, row, own, terms, sums);
  }

 private:
  HD static C full(C held, C offset) { return kCentred ? held : offset + held; }
  template <int V, bool kAdds, class Team, class Row, class Own, class Terms, class Sums>
  HD void write(const Team& team, const Row& x, const Row& g, std::int64_t row, const Own& own, const Terms& terms,
                Sums& sums) const {
    const RowPacks<V, const C> w{weight, packed};
    const RowPacks<V, const T> on_top{(kAdds ? added : in) + row * length, packed};  // read if kAdds
    const RowPacks<V, T> dx{out + row * length, packed};
    team.each(length / V, [&](auto i) {
      const auto of_x = x[i], of_g = g[i];
      const auto of_w = w[i];
      const auto of_added = on_top[i];
      dx.set(i, pack_of<T, V>([&](int v) {
               const C value = own(of_x[v], of_g[v], of_w[v]);
               return kAdds ? compute(static_cast<T>(value)) + of_added[v] : value;
             }));
      sums.add(i, [&](int v) { return terms(of_x[v], of_g[v]); });
    });
  }
};

}  // namespace lethe
