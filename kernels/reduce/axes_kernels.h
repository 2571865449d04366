// Sums and means over any axes, and their gradients: step by step, one group of neighbouring axes after the other.
#pragma once
#include <algorithm>

#include "kernels/dtypes.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/spread.h"
#include "kernels/reduce/sums.h"
#include "kernels/workspace.h"

namespace lethe {

/// The result of each step but the last, of elements of T, after what the layout has.
template <class T>
std::vector<WorkspacePart> results_of(const std::vector<SumExtent>& steps, WorkspaceLayout& layout) {
  std::vector<WorkspacePart> results;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    results.push_back(layout.add_array<T>(steps[i].outer * steps[i].inner));
  return results;
}
/// What writing and reading them moves.
inline std::int64_t bytes_between(const std::vector<WorkspacePart>& results) {
  std::int64_t bytes = 0;
  for (const WorkspacePart& result : results) bytes += 2 * result.bytes;
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
      WorkspaceLayout layout;
      layout.add(sums);
      const std::vector<WorkspacePart> results = results_of<C>(steps, layout);
      return make_kernel(
          [=](const KernelArgs& a) {
            const auto sum = [&](std::size_t step, const auto* x) {
              if (step == results.size())
                scaled_sum(Device{}, a, plans[step], factor, x, a.out<T>(0));
              else
                scaled_sum(Device{}, a, plans[step], 1.0, x, results[step].template at<C>(a));
            };
            sum(0, a.in<T>(0));
            for (std::size_t step = 1; step < plans.size(); ++step)
              sum(step, static_cast<const C*>(results[step - 1].template at<C>(a)));
          },
          layout.bytes(), bytes_between(results));
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
      WorkspaceLayout layout;
      const std::vector<WorkspacePart> results = results_of<T>(steps, layout);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* from = a.in<T>(0);
            for (std::size_t step = steps.size(); step-- > 0;) {
              const bool first = step + 1 == steps.size();
              T* const to = step == 0 ? a.out<T>(0) : results[step - 1].template at<T>(a);
              spread_middle(Device{}, a.stream,
                            Spread<T>{steps[step], static_cast<Compute<T>>(first ? factor : 1), from, to});
              from = to;
            }
          },
          layout.bytes(), bytes_between(results));
    });
  }
};

}  // namespace lethe
