// [N, H, W, C] -> [N, C]: the mean over each image's positions.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/spread.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

SumExtent positions_of(const Shape& image) {
  return {.outer = image[0], .middle = image[1] * image[2], .inner = image[3]};
}

struct GlobalAvgPool {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumPlan plan = plan_sum(Device{}, args.device, positions_of(args.in(0).shape), args.in(0).dtype);
    const double factor = 1.0 / static_cast<double>(plan.extent.middle);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) { scaled_sum(Device{}, a, plan, factor, a.in<T>(0), a.out<T>(0)); },
                         sum_workspace(plan, 1));
    });
  }
};

struct GlobalAvgPoolGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = positions_of(args.out(0).shape);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const Compute<T> factor = static_cast<Compute<T>>(1.0 / static_cast<double>(extent.middle));
      return make_kernel([=](const KernelArgs& a) {
        spread_middle(Device{}, a.stream, Spread<T>{extent, factor, a.in<T>(0), a.out<T>(0)});
      });
    });
  }
};

const Register global_avg_pool{{
    .type = "global_avg_pool",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          check(x.shape.size() == 4, "global_avg_pool: input ", text_of(x.shape), " is no image [N,H,W,C]");
          return std::vector<Type>{{{x.shape[0], x.shape[3]}, x.dtype}};
        },
    .grad =
        [](GradBuilder& g) {
          const Shape& image = g.var(g.x(0)).shape;
          g.set(0, "global_avg_pool_grad", {g.dy()}, {{"height", image[1]}, {"width", image[2]}});
        },
    .kernels = each_device<GlobalAvgPool>(),
    .layer = {.name = "global_avg_pool",
              .aliases = {"GlobalAveragePool"},
              .build =
                  [](LayerCall& c) {
                    c.image();
                    return c.emit("global_avg_pool", {c.in()});
                  },
              .help = "the mean of each channel over the image: [C, H, W] to [C]"},
}};

const Register global_avg_pool_grad{{
    .type = "global_avg_pool_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer =
        [](const InferArgs& args) {
          const Var& dy = args.in(0);
          const Attrs& attrs = args.op.attrs;
          return std::vector<Type>{
              {{dy.shape[0], attrs.integer("height"), attrs.integer("width"), dy.shape[1]}, dy.dtype}};
        },
    .kernels = each_device<GlobalAvgPoolGrad>(),
}};

}  // namespace
}  // namespace lethe
