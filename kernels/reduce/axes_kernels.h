// Sums and means over any axes, and their gradients: step by step, one group of neighbouring axes after the other.
#pragma once
#include <algorithm>

#include "kernels/dtypes.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/spread.h"
#include "kernels/reduce/sums.h"

namespace lethe {

/// Bytes of each step's result that is not the last one, one behind the other.
inline std::int64_t steps_workspace(const std::vector<SumExtent>& steps, std::int64_t element) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) bytes += steps[i].outer * steps[i].inner * element;
  return bytes;
}

template <bool kMean>
struct ReduceAxes {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const std::vector<SumExtent> steps = reduction_steps(shape, axes);
    std::vector<SumPlan> plans;
    std::int64_t sums = 0;
    const DType dtype = args.in(0).dtype;
    for (const SumExtent& step : steps) {
      plans.push_back(plan_sum(Device{}, args.device, step, plans.empty() ? dtype : wide_of(dtype)));
      sums = std::max(sums, sum_workspace(plans.back(), 1));
    }
    const double factor = kMean ? 1.0 / static_cast<double>(reduced_count(shape, axes)) : 1.0;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;  // of what stands between steps
      return make_kernel(
          [=](const KernelArgs& a) {
            const C* from = nullptr;
            C* between = reinterpret_cast<C*>(static_cast<char*>(a.workspace) + sums);
            const auto sum = [&](const SumPlan& plan, const auto* x) {
              if (&plan == &plans.back())
                scaled_sum(Device{}, a, plan, factor, x, a.out<T>(0));
              else
                scaled_sum(Device{}, a, plan, 1.0, x, between);
            };
            for (const SumPlan& plan : plans) {
              from ? sum(plan, from) : sum(plan, a.in<T>(0));
              from = between;
              between += plan.extent.outer * plan.extent.inner;
            }
          },
          sums + steps_workspace(steps, sizeof(C)));
    });
  }
};

template <bool kMean>
struct ReduceAxesGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.out(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const std::vector<SumExtent> steps = reduction_steps(shape, axes);
    const double factor = kMean ? 1.0 / static_cast<double>(reduced_count(shape, axes)) : 1.0;
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* from = a.in<T>(0);
            T* between = static_cast<T*>(a.workspace);
            for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
              const bool first = step == steps.rbegin();
              T* const to = &*step == &steps.front() ? a.out<T>(0) : between;
              spread_middle(Device{}, a.stream,
                            Spread<T>{*step, static_cast<Compute<T>>(first ? factor : 1), from, to});
              from = to;
              between += step->size();
            }
          },
          steps_workspace(steps, sizeof(T)));
    });
  }
};

}  // namespace lethe
