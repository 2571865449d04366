// Batch norm over all parts of a batch (framework/ranks/micro_batches.h): each part gives its moments, the mean and the
// mean square of each channel as its share of the batch; `sum_over_parts` adds these up; statistics and gradient are
// made of the sums. In f64, so that nothing cancels.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch_grad.h"
#include "kernels/norm/batch_parts.h"
#include "kernels/norm/map.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

Type two_a_channel(const Var& x) { return {{2, x.shape.back()}, DType::f64}; }

std::int64_t count_over_parts(const PrepareArgs& args) { return args.op.attrs.integer("count"); }

struct BatchNormMoments {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumPlan plan = plan_sum(Device{}, args.device, channels_of(args.in(0).shape), args.in(0).dtype);
    const auto count = static_cast<double>(plan.extent.middle), all = static_cast<double>(count_over_parts(args));
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* x = a.in<T>(0);
            sum_middle(Device{}, a, plan, Columns<T, 1>{x}, Moments<T>{x},
                       StoreMoments<T>{count, count / all, plan.extent.inner, x, a.out<double>(0)});
          },
          sum_workspace(plan, 2), bytes_of(args.in(0)));
    });
  }
};

struct BatchNormStatistics {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t channels = elements(args.out(0).shape);
    return for_wide(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, channels,
                     StatisticsOfMoments<T>{channels, a.in<double>(0), a.out<T>(0), a.out<T>(1)});
      });
    });
  }
};

struct BatchNormGradSums {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumPlan plan = plan_sum(Device{}, args.device, channels_of(args.in(0).shape), args.in(0).dtype);
    const double eps = args.op.attrs.number("eps");
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel(
          [=](const KernelArgs& a) {
            sum_middle(
                Device{}, a, plan, Columns<C, 1>{a.in<C>(1)}, GradSums<T, false>{a.in<T>(0), a.in<T>(3)},
                StoreGradSums<C>{eps, plan.extent.inner, a.in<C>(2), a.out<double>(0), a.out<C>(1), a.out<C>(2)});
          },
          sum_workspace(plan, 2), bytes_of(args.in(0)));
    });
  }
};

struct BatchNormGradOfSums {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const double eps = args.op.attrs.number("eps"), count = static_cast<double>(count_over_parts(args));
    const bool has_scale = args.has_in(1);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const ChannelWorkspace<C> space(SumPlan{extent}, 0, 3);
      return make_kernel(
          [=](const KernelArgs& a) {
            C *factor = space.array(a, 0), *of_x = space.array(a, 1), *rest = space.array(a, 2);
            const FactorsOfSums<C> factors{.count = count,
                                           .eps = eps,
                                           .channels = extent.inner,
                                           .scale = has_scale ? a.in<C>(1) : nullptr,
                                           .var = a.in<C>(3),
                                           .sums = a.in<double>(5),
                                           .factor = factor,
                                           .of_x = of_x,
                                           .rest = rest};
            parallel_for(Device{}, a.stream, extent.inner, factors);
            map_columns<C, 5>(Device{}, a.stream, extent.middle, extent.inner, {a.in<C>(2), factor, factor, of_x, rest},
                              NormalizeGrad<T, false>{a.in<T>(0), a.in<T>(4), a.out<T>(0)});
          },
          space.bytes());
    });
  }
};

const Register batch_norm_moments{{
    .type = "batch_norm_moments",
    .inputs = {"x"},
    .outputs = {"moments"},
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          check(x.shape.size() >= 2, "batch_norm: input ", text_of(x.shape), " has no axis besides the channels");
          return std::vector<Type>{two_a_channel(x)};
        },
    .kernels = each_device<BatchNormMoments>(),
}};

const Register batch_norm_statistics{{
    .type = "batch_norm_statistics",
    .inputs = {"moments"},
    .outputs = {"mean", "var"},
    .infer =
        [](const InferArgs& args) {
          const Var& moments = args.in(0);
          check(moments.shape.size() == 2 && moments.shape[0] == 2 && moments.dtype == DType::f64,
                "batch_norm_statistics: moments are ", text_of(moments), ", expected f64 [2, channels]");
          const Type channels{{moments.shape[1]}, dtype_named(args.op.attrs.text("dtype"))};
          return std::vector<Type>{channels, channels};
        },
    .kernels = each_device<BatchNormStatistics>(),
}};

const Register batch_norm_grad_sums{{
    .type = "batch_norm_grad_sums",
    .inputs = {"x", "mean", "var", "dy"},
    .outputs = {"sums", "dscale", "dbias"},
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          check(!x.shape.empty(), args.op.type, ": x is a scalar");
          const Type channels{{x.shape.back()}, wide_of(x.dtype)};
          for (const int slot : {1, 2}) check_input(args, slot, channels);
          check_input(args, 3, {x.shape, x.dtype});
          return std::vector<Type>{two_a_channel(x), channels, channels};
        },
    .kernels = each_device<BatchNormGradSums>(),
}};

const Register batch_norm_grad_of_sums{{
    .type = "batch_norm_grad_of_sums",
    .inputs = {"x", "scale?", "mean", "var", "dy", "sums"},
    .outputs = {"dx"},
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          check(!x.shape.empty(), args.op.type, ": x is a scalar");
          for (const int slot : {1, 2, 3}) check_input(args, slot, {{x.shape.back()}, wide_of(x.dtype)});
          check_input(args, 4, {x.shape, x.dtype});
          check_input(args, 5, two_a_channel(x));
          return same_as_first(args);
        },
    .inplace = {{.in = 0, .out = 0}, {.in = 4, .out = 0}},
    .kernels = each_device<BatchNormGradOfSums>(),
}};

}  // namespace
}  // namespace lethe
