// Sum and mean over any axes, and their gradients. Neighbouring axes are one middle; groups of axes that stand apart
// are reduced one after the other, the last first.
#pragma once
#include <vector>

#include "framework/op_def.h"
#include "kernels/reduce.h"
#include "kernels/reduce_spread.h"

namespace lethe {

/// The steps that lead from `shape` to its sum over `axes`; at least one.
std::vector<Extent> reduction_steps(const Shape& shape, const Ints& axes);
/// Attribute `axes` in ascending order, all axes if it is absent or empty; fails for one that `shape` does not have.
Ints reduced_axes(const Op& op, const Shape& shape);
/// Shape rule: without the reduced axes, or with 1 in their place if attribute `keep_dims` is set.
std::vector<Type> infer_reduction(const InferArgs& args);
/// Shape rule of the gradient: attribute `shape`, which is the input's.
std::vector<Type> infer_reduction_grad(const InferArgs& args);
/// The attributes of the gradient.
Attrs reduction_grad_attrs(const Attrs& attrs, const Shape& shape);
/// Product of the sizes of `axes`.
std::int64_t reduced_count(const Shape& shape, const Ints& axes);

/// Bytes of each step's result that is not the last one, one behind the other.
inline std::int64_t steps_workspace(const std::vector<Extent>& steps, std::int64_t element) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) bytes += steps[i].outer * steps[i].inner * element;
  return bytes;
}

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

/// y[outer, inner] = factor * sum over the middle of x.
template <class T, class Device>
void scaled_sum(Device device, void* stream, const SumPlan& plan, void* workspace, double factor, const T* x, T* y) {
  sum_middle<T, 0>(device, stream, plan, workspace, {}, Element<T>{x}, StoreScaled<T>{plan.extent.inner, factor, y});
}

template <bool kMean>
struct ReduceAxes {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.in(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const std::vector<Extent> steps = reduction_steps(shape, axes);
    std::vector<SumPlan> plans;
    std::int64_t sums = 0;
    for (const Extent& step : steps) {
      plans.push_back(plan_sum(Device{}, args.device, step));
      sums = std::max(sums, sum_workspace(plans.back(), 1));
    }
    const double factor = kMean ? 1.0 / static_cast<double>(reduced_count(shape, axes)) : 1.0;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* from = a.in<T>(0);
            T* between = reinterpret_cast<T*>(static_cast<char*>(a.workspace) + sums);
            for (const SumPlan& plan : plans) {
              const bool last = &plan == &plans.back();
              T* const to = last ? a.out<T>(0) : between;
              scaled_sum(Device{}, a.stream, plan, a.workspace, last ? factor : 1.0, from, to);
              from = to;
              between += plan.extent.outer * plan.extent.inner;
            }
          },
          sums + steps_workspace(steps, sizeof(T)));
    });
  }
};

template <bool kMean>
struct ReduceAxesGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.out(0).shape;
    const Ints axes = reduced_axes(args.op, shape);
    const std::vector<Extent> steps = reduction_steps(shape, axes);
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
              spread_middle(Device{}, a.stream, Spread<T>{*step, first ? static_cast<T>(factor) : T(1), from, to});
              from = to;
              between += step->size();
            }
          },
          steps_workspace(steps, sizeof(T)));
    });
  }
};

}  // namespace lethe
