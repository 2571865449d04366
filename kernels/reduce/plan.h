// What the CPU's and the GPU's sums (kernels/reduce/sums.h) have in common: shape, pieces, how functors are called.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "framework/kernel.h"
#include "kernels/packs.h"

namespace lethe {

/// The middle is what is summed over.
struct SumExtent {
  std::int64_t outer = 1, middle = 1, inner = 1;
  HD std::int64_t size() const { return outer * middle * inner; }
};

/// The middle is cut into `pieces`, summed one by one and then together; one piece needs no workspace. A GPU's thread
/// sums `columns` neighbouring ones if the functor can.
struct SumPlan {
  SumExtent extent = {};
  std::int64_t pieces = 1;
  int columns = 1;
  HD std::int64_t first_row(std::int64_t piece) const { return extent.middle * piece / pieces; }
};

/// Bytes that `sum_middle` needs for `terms` sums.
inline std::int64_t sum_workspace(const SumPlan& plan, int terms) {
  if (plan.pieces == 1) return 0;
  return plan.extent.outer * plan.pieces * plan.extent.inner * terms * static_cast<std::int64_t>(sizeof(double));
}

/// Elements that one thread sums in Compute<T> before they are added in double.
inline constexpr std::int64_t kRun = 64;

/// Pointers to values of which each column (index into `inner`) has one.
template <class T, std::size_t P>
using Columns = std::array<const T*, P>;

template <class T, std::size_t P>
HD std::array<Compute<T>, P> values_at(const Columns<T, P>& columns, std::int64_t column) {
  std::array<Compute<T>, P> values{};
  for (int p = 0; p < static_cast<int>(P); ++p) values[p] = columns[p][column];
  return values;
}

/// A functor that needs to know its row takes (row, i, values); others take (i, values), i being the element's index.
template <class F, class T, std::size_t P>
inline constexpr bool kByRow = std::is_invocable_v<const F&, std::int64_t, std::int64_t, std::array<Compute<T>, P>>;

template <class F, class T, std::size_t P>
HD auto terms_at(const F& f, std::int64_t row, std::int64_t i, const std::array<Compute<T>, P>& values) {
  if constexpr (kByRow<F, T, P>)
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
template <class F, class T, std::size_t P>
inline constexpr int kTerms = static_cast<int>(
    std::tuple_size_v<decltype(terms_at<F, T, P>(std::declval<const F&>(), 0, 0, std::array<Compute<T>, P>{}))>);

/// The last step if there are several pieces: adds them up in their order.
template <int K, class Finish>
struct AddPieces {
  SumPlan plan;
  const double* partial;  // [outer, pieces, K, inner]
  Finish finish;
  HD void operator()(std::int64_t i) const {
    const std::int64_t inner = plan.extent.inner, outer = i / inner, column = i % inner;
    std::array<double, K> sums{};
    for (std::int64_t piece = 0; piece < plan.pieces; ++piece)
      for (int k = 0; k < K; ++k) sums[k] += partial[((outer * plan.pieces + piece) * K + k) * inner + column];
    finish(outer, column, sums);
  }
};

/// One piece's sums of one column: handed on if the piece is all there is, else kept.
template <int K, class Finish>
HD void store_sums(const SumPlan& plan, std::int64_t task, std::int64_t column, const std::array<double, K>& sums,
                   double* partial, const Finish& finish) {
  if (plan.pieces == 1)
    finish(task, column, sums);
  else
    for (int k = 0; k < K; ++k) partial[(task * K + k) * plan.extent.inner + column] = sums[k];
}

}  // namespace lethe
