// Mean and biased variance of each channel (the last axis) over all other axes: what batch_norm gives beside y. Written
// by fuse_shortcut_norms alone, after autodiff, where another norm makes y.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

struct ChannelStatistics {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const SumPlan plan = plan_sum(Device{}, args.device, extent, args.in(0).dtype);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel(
          [=](const KernelArgs& a) {
            const T* x = a.in<T>(0);
            const Statistics<T> finish{
                .count = static_cast<double>(extent.middle), .shift = x, .mean = a.out<C>(0), .var = a.out<C>(1)};
            sum_middle(Device{}, a, plan, Columns<T, 1>{x}, Moments<T>{x}, finish);
          },
          sum_workspace(plan, 2));
    });
  }
};

const Register channel_statistics{{
    .type = "channel_statistics",
    .inputs = {"x"},
    .outputs = {"mean", "var"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      const Var& x = args.in(0);
      check(x.shape.size() >= 2, "channel_statistics: input ", text_of(x.shape), " has no axis besides the channels");
      const Type channels{{x.shape.back()}, wide_of(x.dtype)};
      return {channels, channels};
    },
    .kernels = each_device<ChannelStatistics>(),
}};

}  // namespace
}  // namespace lethe
