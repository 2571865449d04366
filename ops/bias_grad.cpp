// db[c] = the sum of dy[..., c] over all other axes: the gradient of a bias.
#include "framework/error.h"
#include "framework/language/op_attrs.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/gemm/gemm.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

struct PrepareBiasGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t columns = args.out(0).shape[0], rows = elements(args.in(0).shape) / columns;
    const bool wide = args.op.attrs.flag(kWideOutput, false);
    const SumPlan plan = plan_sum(Device{}, args.device, {.middle = rows, .inner = columns}, args.in(0).dtype);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto run = [plan, wide](const KernelArgs& a) {
        if (wide)
          scaled_sum(Device{}, a, plan, 1.0, a.in<T>(0), a.out<Compute<T>>(0));
        else
          scaled_sum(Device{}, a, plan, 1.0, a.in<T>(0), a.out<T>(0));
      };
      return make_kernel(run, sum_workspace(plan, 1));
    });
  }
};

std::vector<Type> infer(const InferArgs& args) {
  const Var& dy = args.in(0);
  check(!dy.shape.empty(), "bias_grad: dy is a scalar, expected columns");
  return {{{dy.shape.back()}, args.op.attrs.flag(kWideOutput, false) ? wide_of(dy.dtype) : dy.dtype}};
}

/// The product that gives the gradient of the weight beside the bias.
std::vector<Op> into_product(const Program& program, const Op& product, const Op& gradient) {
  const DType dtype = program.vars[gradient.in[0]].dtype;
  if (product.type != "matmul" || product.in[0] != gradient.in[0] || product.in.size() != 2 ||
      product.out.size() != 1 || program.vars[product.in[0]].shape.size() != 2 ||
      !product.attrs.flag("transpose_a", false) || product.attrs.flag("transpose_b", false) ||
      product.attrs.flag(kWideOutput, false) != gradient.attrs.flag(kWideOutput, false) ||
      program.vars[product.in[1]].dtype != dtype || !gives_gradients_on_the_way(dtype))
    return {};
  Op both = product;
  both.attrs.set(kSumsOfA, true);
  both.out.push_back(gradient.out[0]);
  return {both};
}

const Register bias_grad{{
    .type = "bias_grad",
    .inputs = {"dy"},
    .outputs = {"db"},
    .infer = infer,
    .fusions = {{.fusion = Fusion::Sums, .input = 0, .fused = into_product}},
    .widens = true,
    .kernels = each_device<PrepareBiasGrad>(),
}};

}  // namespace
}  // namespace lethe
