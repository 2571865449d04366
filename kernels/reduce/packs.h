// What one thread of a GPU sums: V neighbouring columns, read in packs where V > 1.
#pragma once
#include "kernels/reduce/plan.h"

namespace lethe {

/// The sums of V neighbouring columns.
template <int V, int K, class T, std::size_t P, class F>
class PackSums {
 public:
  HD PackSums(const F& f, const Columns<T, P>& columns, std::int64_t column) : f_(f) {
    for (int v = 0; v < V; ++v) values_[v] = values_at(columns, column + v);
  }
  /// Adds `rows` rows, `apart` from each other, from element i on. Four at a time: none waits for another's memory.
  HD void add(std::int64_t row, std::int64_t rows, std::int64_t apart, std::int64_t i, std::int64_t inner) {
    while (rows > 0) {
      std::array<Term, K> run[V] = {};
      std::int64_t left = rows < kRun ? rows : kRun;
      rows -= left;
      for (; left >= 4; left -= 4, row += 4 * apart, i += 4 * apart * inner) add_to<4>(run, row, apart, i, inner);
      for (; left > 0; --left, row += apart, i += apart * inner) add_to<1>(run, row, apart, i, inner);
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < K; ++k) total[v][k] += static_cast<double>(run[v][k]);
    }
  }
  std::array<double, K> total[V] = {};

 private:
  using Term = Compute<T>;
  template <int R>
  HD void add_to(std::array<Term, K> (&run)[V], std::int64_t row, std::int64_t apart, std::int64_t i,
                 std::int64_t inner) const {
    std::array<Term, K> terms[R][V];
    for (int r = 0; r < R; ++r)
      if constexpr (V == 1)
        terms[r][0] = terms_at<F, T, P>(f_, row + r * apart, i + r * apart * inner, values_[0]);
      else
        f_.template pack<V>(row + r * apart, i + r * apart * inner, values_, terms[r]);
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < K; ++k) run[v][k] += terms[r][v][k];
  }

  const F& f_;
  std::array<Term, P> values_[V];
};

}  // namespace lethe
