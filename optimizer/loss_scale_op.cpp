// Dynamic loss scaling for gradients in f16 (Micikevicius et al., "Mixed precision training", 2018; halving, doubling
// and their defaults as PyTorch's GradScaler has them), and a counter of the steps that were not skipped.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/each_device.h"
#include "optimizer/optimizer.h"

namespace lethe {
namespace {

constexpr std::int64_t kEntries = sizeof(LossScaleState) / sizeof(std::int64_t);

struct ScaleOf {
  double initial;
  const LossScaleState* state;
  float* scale;
  HD void operator()(std::int64_t) const { *scale = static_cast<float>(state->scale(initial)); }
};

/// After a step: halved if that was skipped, doubled after `interval` good ones.
struct NextScale {
  std::int64_t interval;
  const float* grad_scale;
  LossScaleState* state;
  HD void operator()(std::int64_t) const {
    const bool skipped = *grad_scale == 0;
    state->skipped += skipped ? 1 : 0;
    state->good_steps = skipped ? 0 : state->good_steps + 1;
    if (skipped) state->halvings += 1;
    if (state->good_steps < interval) return;
    state->good_steps = 0;
    state->halvings -= 1;
  }
};

struct CountUnskipped {
  const float* grad_scale;
  std::int64_t* count;
  HD void operator()(std::int64_t) const { *count += *grad_scale == 0 ? 0 : 1; }
};

struct LossScaleKernel {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return make_kernel([initial = args.op.attrs.number("initial")](const KernelArgs& a) {
      parallel_for(Device{}, a.stream, 1, ScaleOf{initial, a.in<LossScaleState>(0), a.out<float>(0)});
    });
  }
};

struct LossScaleUpdate {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return make_kernel([interval = args.op.attrs.integer("interval")](const KernelArgs& a) {
      parallel_for(Device{}, a.stream, 1, NextScale{interval, a.in<float>(1), a.out<LossScaleState>(0)});
    });
  }
};

struct CountUnskippedKernel {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs&) {
    return make_kernel([](const KernelArgs& a) {
      parallel_for(Device{}, a.stream, 1, CountUnskipped{a.in<float>(1), a.out<std::int64_t>(0)});
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

const Register count_unskipped{{
    .type = "count_unskipped",
    .inputs = {"count", "grad_scale"},
    .outputs = {"count"},
    .infer =
        [](const InferArgs& args) {
          check_input(args, 0, {Shape{}, DType::i64});
          check_input(args, 1, {Shape{}, DType::f32});
          return same_as_first(args);
        },
    .updates = true,
    .kernels = each_device<CountUnskippedKernel>(),
}};

}  // namespace
}  // namespace lethe
