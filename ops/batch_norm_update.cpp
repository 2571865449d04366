// running = (1 - momentum) * running + momentum * batch, for mean and variance; the variance of a batch of `count`
// values a channel is counted unbiased, as PyTorch does.
#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T>
struct UpdateStatistics {
  T momentum, correction;
  const T *mean, *var;
  T *running_mean, *running_var;
  HD void operator()(std::int64_t c) const {
    running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean[c];
    running_var[c] = (1 - momentum) * running_var[c] + momentum * (correction * var[c]);
  }
};

struct BatchNormUpdate {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t channels = elements(args.in(0).shape);
    const double count = args.op.attrs.number("count"), momentum = args.op.attrs.number("momentum");
    return for_wide(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        const UpdateStatistics<T> update{.momentum = static_cast<T>(momentum),
                                         .correction = static_cast<T>(count / (count - 1)),
                                         .mean = a.in<T>(2),
                                         .var = a.in<T>(3),
                                         .running_mean = a.out<T>(0),
                                         .running_var = a.out<T>(1)};
        parallel_for(Device{}, a.stream, channels, update);
      });
    });
  }
};

const Register batch_norm_update{{
    .type = "batch_norm_update",
    .inputs = {"running_mean", "running_var", "mean", "var"},
    .outputs = {"running_mean", "running_var"},
    .infer =
        [](const InferArgs& args) {
          check(args.op.attrs.integer("count") >= 2, "batch_norm: ", args.op.attrs.integer("count"),
                " value a channel; the variance of a batch needs at least 2");
          const double momentum = args.op.attrs.number("momentum");
          check(momentum >= 0 && momentum <= 1, "batch_norm: momentum is ", momentum, ", expected 0 to 1");
          for (const int slot : {1, 2, 3}) check_input(args, slot, {args.in(0).shape, args.in(0).dtype});
          return same_as_first(args);
        },
    .updates = true,
    .kernels = each_device<BatchNormUpdate>(),
}};

}  // namespace
}  // namespace lethe
