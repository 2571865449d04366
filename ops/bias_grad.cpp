// db[c] = the sum of dy[..., c] over all other axes: the gradient of a bias.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

struct PrepareBiasGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t columns = args.out(0).shape[0], rows = elements(args.in(0).shape) / columns;
    const SumPlan plan = plan_sum(Device{}, args.device, {.middle = rows, .inner = columns}, args.in(0).dtype);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto run = [plan](const KernelArgs& a) { scaled_sum(Device{}, a, plan, 1.0, a.in<T>(0), a.out<T>(0)); };
      return make_kernel(run, sum_workspace(plan, 1));
    });
  }
};

std::vector<Type> infer(const InferArgs& args) {
  const Var& dy = args.in(0);
  check(!dy.shape.empty(), "bias_grad: dy is a scalar, expected columns");
  return {{{dy.shape.back()}, dy.dtype}};
}

const Register bias_grad{{
    .type = "bias_grad",
    .inputs = {"dy"},
    .outputs = {"db"},
    .infer = infer,
    .kernels = each_device<PrepareBiasGrad>(),
}};

}  // namespace
}  // namespace lethe
