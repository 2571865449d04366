// Dynamic loss scaling for gradients in f16 (Micikevicius et al., "Mixed precision training", 2018; halving, doubling
// and their defaults as PyTorch's GradScaler has them). The state is i64[3]: how often the scale was halved more than
// doubled, steps since it last changed, steps skipped; all zero at first.
#include <cmath>

#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

enum Entry { kHalvings, kGoodSteps, kSkipped, kEntries };

/// scale = initial * 2^-halvings.
struct ScaleOf {
  double initial;
  const std::int64_t* state;
  float* scale;
  HD void operator()(std::int64_t) const {
    *scale = static_cast<float>(std::ldexp(initial, -static_cast<int>(state[kHalvings])));
  }
};

/// After a step: halved if that was skipped, doubled after `interval` good ones.
struct NextScale {
  std::int64_t interval;
  const float* grad_scale;
  std::int64_t* state;
  HD void operator()(std::int64_t) const {
    const bool skipped = *grad_scale == 0;
    state[kSkipped] += skipped ? 1 : 0;
    state[kGoodSteps] = skipped ? 0 : state[kGoodSteps] + 1;
    if (skipped) state[kHalvings] += 1;
    if (state[kGoodSteps] < interval) return;
    state[kGoodSteps] = 0;
    state[kHalvings] -= 1;
  }
};

struct LossScaleKernel {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return make_kernel([initial = args.op.attrs.number("initial")](const KernelArgs& a) {
      parallel_for(Device{}, a.stream, 1, ScaleOf{initial, a.in<std::int64_t>(0), a.out<float>(0)});
    });
  }
};

struct LossScaleUpdate {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return make_kernel([interval = args.op.attrs.integer("interval")](const KernelArgs& a) {
      parallel_for(Device{}, a.stream, 1, NextScale{interval, a.in<float>(1), a.out<std::int64_t>(0)});
    });
  }
};

void check_state(const InferArgs& args) { check_input(args, 0, {{kEntries}, DType::i64}); }

const Register loss_scale{{
    .type = "loss_scale",
    .inputs = {"state"},
    .outputs = {"scale"},
    .infer =
        [](const InferArgs& args) {
          check_state(args);
          const double initial = args.op.attrs.number("initial");
          check(initial > 0, "loss_scale: initial is ", initial, ", expected above 0");
          return std::vector<Type>{{Shape{}, DType::f32}};
        },
    .kernels = each_device<LossScaleKernel>(),
}};

const Register loss_scale_update{{
    .type = "loss_scale_update",
    .inputs = {"state", "grad_scale"},
    .outputs = {"state"},
    .infer =
        [](const InferArgs& args) {
          check_state(args);
          check_input(args, 1, {Shape{}, DType::f32});
          check(args.op.attrs.integer("interval") >= 1, "loss_scale_update: interval is ",
                args.op.attrs.integer("interval"), ", expected at least 1");
          return same_as_first(args);
        },
    .updates = true,
    .kernels = each_device<LossScaleUpdate>(),
}};

}  // namespace
}  // namespace lethe
