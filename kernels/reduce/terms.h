// What is summed: the terms that a functor gives of an element, alone or of several neighbouring columns at once.
#pragma once
#include <array>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/low_floats.h"
#include "kernels/reduce/columns.h"

namespace lethe {

/// Elements that one thread sums in Compute<T> before they are added in double.
inline constexpr std::int64_t kRun = 64;

template <class T, std::size_t P>
HD std::array<Compute<T>, P> values_at(const Columns<T, P>& columns, std::int64_t column) {
  std::array<Compute<T>, P> values{};
  for (int p = 0; p < static_cast<int>(P); ++p) values[p] = columns[p][column];
  return values;
}

/// What `columns` has of each column: an array of Compute<T>. Beside pointers to what lies in memory, `columns` may be
/// what computes it (with a values_at of its own).
template <class Columns>
using ValuesOf = decltype(values_at(std::declval<const Columns&>(), std::int64_t{}));

/// A functor that needs to know its row takes (row, i, values); others take (i, values), i being the element's index.
template <class F, class Values>
inline constexpr bool kByRow = std::is_invocable_v<const F&, std::int64_t, std::int64_t, Values>;

template <class F, class Values>
HD auto terms_at(const F& f, std::int64_t row, std::int64_t i, const Values& values) {
  if constexpr (kByRow<F, Values>)
    return f(row, i, values);
  else
    return f(i, values);
}

/// A functor that can read several elements of a row at once has kElements, how many; can_pack(), whether its addresses
/// allow it; and pack<V>(row, i, values, terms), which sets terms[v] to that of element i + v with values[v].
template <class F>
concept ReadsPacks = requires(const F& f) {
  F::kElements;
  f.can_pack();
};

/// How many sums `f` gives: it returns std::array<Compute<T>, K>.
template <class F, class Columns>
inline constexpr int kTerms = static_cast<int>(
    std::tuple_size_v<decltype(terms_at(std::declval<const F&>(), 0, 0, std::declval<ValuesOf<Columns>>()))>);

/// What one thread of a GPU sums: V neighbouring columns, read in packs where V > 1.
template <int V, int K, class Columns, class F>
class PackSums {
  using Values = ValuesOf<Columns>;
  using Term = typename Values::value_type;

 public:
  /// `values`: of each column.
  HD PackSums(const F& f, const Values (&values)[V]) : f_(f), values_(values) {}
  /// Adds `rows` rows, `stride` from each other, from element i on. Four at a time: none waits for another's memory.
  HD void add(std::int64_t row, std::int64_t rows, std::int64_t stride, std::int64_t i, std::int64_t inner) {
    while (rows > 0) {
      std::array<Term, K> run[V] = {};
      std::int64_t left = rows < kRun ? rows : kRun;
      rows -= left;
      for (; left >= 4; left -= 4, row += 4 * stride, i += 4 * stride * inner) add_to<4>(run, row, stride, i, inner);
      for (; left > 0; --left, row += stride, i += stride * inner) add_to<1>(run, row, stride, i, inner);
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < K; ++k) total[v * K + k] += static_cast<double>(run[v][k]);
    }
  }
  std::array<double, V* K> total = {};  // K of each column

 private:
  template <int R>
  HD void add_to(std::array<Term, K> (&run)[V], std::int64_t row, std::int64_t stride, std::int64_t i,
                 std::int64_t inner) const {
    std::array<Term, K> terms[R][V];
    for (int r = 0; r < R; ++r)
      if constexpr (V == 1)
        terms[r][0] = terms_at(f_, row + r * stride, i + r * stride * inner, values_[0]);
      else
        f_.template pack<V>(row + r * stride, i + r * stride * inner, values_, terms[r]);
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < K; ++k) run[v][k] += terms[r][v][k];
  }

  const F& f_;
  const Values (&values_)[V];
};

}  // namespace lethe
