// y[outer, inner] = factor * sum over the middle of x: sums, means, average pooling of whole images.
#pragma once
#include "kernels/reduce/sums.h"

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
struct Element {
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

template <class From, class To, class Device>
void scaled_sum(Device device, void* stream, const SumPlan& plan, void* workspace, double factor, const From* x,
                To* y) {
  sum_middle<From, 0>(device, stream, plan, workspace, {}, Element<From>{x},
                      StoreScaled<To>{plan.extent.inner, factor, y});
}

}  // namespace lethe
