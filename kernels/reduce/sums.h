// Sums over the middle of [outer, middle, inner]: columns (outer 1), rows (inner 1), a whole tensor (both 1) and
// images' planes are one shape. `sum_middle(device, args, plan, columns, f, finish)` calls finish(outer, column, sums)
// for each of the outer * inner results, sums being what f gave, added up over the middle; at the beginning of the
// workspace it takes sum_workspace(plan, K) bytes, K being how many sums f gives. Short runs are summed in Compute<T>,
// runs and pieces in double: the error of an f32 sum does not grow with its length. What is cut where depends on shape
// and device alone, so the bits do as well.
#pragma once
#include "kernels/packs.h"
#include "kernels/reduce/cpu.h"
#include "kernels/reduce/cuda.h"

namespace lethe {

template <class T>
struct StoreScaled {
  std::int64_t inner;
  double factor;
  T* y;
  HD void operator()(std::int64_t outer, std::int64_t c, const std::array<double, 1>& sums) const {
    y[outer * inner + c] = static_cast<T>(sums[0] * factor);
  }
};

template <class T>
struct ElementTerm {
  using Terms = std::array<Compute<T>, 1>;
  using Nothing = std::array<Compute<T>, 0>;
  const T* x;
  HD Terms operator()(std::int64_t i, const Nothing&) const { return {x[i]}; }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x}); }
  template <int V>
  HD void pack(std::int64_t, std::int64_t i, const Nothing*, Terms* terms) const {
    const Pack<T, V> from = load_pack<V>(x + i);
    for (int v = 0; v < V; ++v) terms[v] = {from.at[v]};
  }
};

// On the CPU compiled once for all ops: sums.cpp.
extern template void sum_block(const SumBlock&, const Columns<float, 0>&, const ElementTerm<float>&,
                               BlockSums<float, 1>&);
extern template void sum_block(const SumBlock&, const Columns<double, 0>&, const ElementTerm<double>&,
                               BlockSums<double, 1>&);
extern template void sum_block(const SumBlock&, const Columns<Bf16, 0>&, const ElementTerm<Bf16>&, BlockSums<Bf16, 1>&);
extern template void sum_block(const SumBlock&, const Columns<F16, 0>&, const ElementTerm<F16>&, BlockSums<F16, 1>&);

/// y[outer, inner] = factor * sum over the middle of x.
template <class From, class To, class Device>
void scaled_sum(Device device, const KernelArgs& args, const SumPlan& plan, double factor, const From* x, To* y) {
  sum_middle(device, args, plan, Columns<From, 0>{}, ElementTerm<From>{x},
             StoreScaled<To>{plan.extent.inner, factor, y});
}

}  // namespace lethe
