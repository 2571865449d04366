// Sums over the middle of [outer, middle, inner]: columns (outer 1), rows (inner 1), a whole tensor (both 1) and
// images' planes are one shape. Short runs are summed in Compute<T>, runs and pieces in double: the error of an f32 sum
// does not grow with its length. What is cut where depends on shape and device alone, so the bits do as well.
#pragma once
#include "kernels/reduce/cpu.h"
#include "kernels/reduce/cuda.h"

namespace lethe {

/// Calls finish(outer, column, sums) for each of the outer * inner results, sums being what f gave, added up over the
/// middle. `workspace`: sum_workspace(plan, K) bytes.
template <class T, std::size_t P, class Device, class F, class Finish>
void sum_middle(Device device, void* stream, const SumPlan& plan, void* workspace, const Columns<T, P>& columns,
                const F& f, const Finish& finish) {
  constexpr int K = kTerms<F, T, P>;
  double* const partial = static_cast<double*>(workspace);
  sum_pieces<K>(device, stream, plan, partial, columns, f, finish);
  if (plan.pieces > 1)
    parallel_for(device, stream, plan.extent.outer * plan.extent.inner, AddPieces<K, Finish>{plan, partial, finish});
}

}  // namespace lethe
