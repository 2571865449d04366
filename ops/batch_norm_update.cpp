// running = (1 - momentum) * running + momentum * batch, for mean and variance; the variance of a batch of `count`
// values a channel is counted unbiased, as PyTorch does.
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/group.h"

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

/// On a GPU the updates of several layers are done in one launch.
template <class Device, class T>
class StatisticsKernel final : public Kernel {
 public:
  explicit StatisticsKernel(const PrepareArgs& args)
      : channels_(elements(args.in(0).shape)),
        momentum_(static_cast<T>(args.op.attrs.number("momentum"))),
        correction_(static_cast<T>(args.op.attrs.number("count") / (args.op.attrs.number("count") - 1))) {}
  void run(const KernelArgs& a) const override { parallel_for(Device{}, a.stream, channels_, update(a)); }
#ifdef LETHE_DEVICE_CODE
  bool groups_with(const Kernel& other) const override {
    return std::is_same_v<Device, Cuda> && dynamic_cast<const StatisticsKernel*>(&other);
  }
  void run_group(std::span<const KernelCall> calls) const override {
    if constexpr (!std::is_same_v<Device, Cuda>) {
      Kernel::run_group(calls);
    } else {
      GroupedLaunches<UpdateStatistics<T>> launches(calls[0].args.stream);
      for (const KernelCall& call : calls) {
        const auto& kernel = static_cast<const StatisticsKernel&>(*call.kernel);
        launches.add(kernel.channels_, kernel.update(call.args));
      }
      launches.flush();
    }
  }
#endif

 private:
  UpdateStatistics<T> update(const KernelArgs& a) const {
    return {.momentum = momentum_,
            .correction = correction_,
            .mean = a.in<T>(2),
            .var = a.in<T>(3),
            .running_mean = a.out<T>(0),
            .running_var = a.out<T>(1)};
  }
  std::int64_t channels_;
  T momentum_, correction_;
};

struct BatchNormUpdate {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_wide(args.in(0).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
      return std::make_unique<StatisticsKernel<Device, decltype(zero)>>(args);
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
