// y[outer, inner] = factor * sum over the middle of x: sums, means, average pooling of whole images.
#pragma once
#include "kernels/reduce.h"

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
  const T* x;
  HD std::array<T, 1> operator()(std::int64_t i, const std::array<T, 0>&) const { return {x[i]}; }
};

template <class T, class Device>
void scaled_sum(Device device, void* stream, const SumPlan& plan, void* workspace, double factor, const T* x, T* y) {
  sum_middle<T, 0>(device, stream, plan, workspace, {}, Element<T>{x}, StoreScaled<T>{plan.extent.inner, factor, y});
}

}  // namespace lethe
