// The shape of a sum over the middle of [outer, middle, inner], and the pieces that it is cut into.
#pragma once
#include <array>
#include <cstdint>

#include "kernels/device_code.h"

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
  /// Where a piece's k-th of K sums of a column is among all: [outer, pieces, K, inner].
  HD std::int64_t place(std::int64_t task, int k, int K, std::int64_t column) const {
    return (task * K + k) * extent.inner + column;
  }
};

/// Bytes that `sum_middle` needs for `terms` sums.
inline std::int64_t sum_workspace(const SumPlan& plan, int terms) {
  if (plan.pieces == 1) return 0;
  return plan.extent.outer * plan.pieces * plan.extent.inner * terms * static_cast<std::int64_t>(sizeof(double));
}

/// One piece's sums of one column: handed on if the piece is all there is, else kept.
template <int K, class Finish>
HD void store_sums(const SumPlan& plan, std::int64_t task, std::int64_t column, const std::array<double, K>& sums,
                   double* partial, const Finish& finish) {
  if (plan.pieces == 1)
    finish(task, column, sums);
  else
    for (int k = 0; k < K; ++k) partial[plan.place(task, k, K, column)] = sums[k];
}

}  // namespace lethe
