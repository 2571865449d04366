// y = x * inv_rms * weight along the last axis, inv_rms = 1 / sqrt(mean of x^2 + eps), which is kept for the gradient,
// one a row. With an `offset` the weight is that and what is held: of Gemma 1.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/row_norm.h"
#include "kernels/norm/row_norm_grads.h"
#include "kernels/norm/row_types.h"

namespace lethe {
namespace {

constexpr int kAddedToRms = 2, kAddedToRmsGrad = 4;  // the slots

struct RmsNorm {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const double eps = args.op.attrs.number("eps"), offset = args.op.attrs.number("offset", 0);
    const bool adds = args.has_in(kAddedToRms);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel([=](const KernelArgs& a) {
        const T* const added = adds ? a.in<T>(kAddedToRms) : nullptr;
        T* const sum = adds ? a.out<T>(2) : nullptr;
        const bool packed = can_pack({a.in<T>(0), a.in<C>(1), a.out<T>(0), added, sum});
        for_each_row(Device{}, a.stream, extent.middle, extent.inner,
                     NormRow<T, false>{extent.inner, eps, a.in<T>(0), a.in<C>(1), nullptr, a.out<T>(0), nullptr,
                                       a.out<C>(1), packed, static_cast<C>(offset), added, sum});
      });
    });
  }
};

struct RmsNormGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const double offset = args.op.attrs.number("offset", 0);
    const bool adds = args.has_in(kAddedToRmsGrad);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const NormGrads<Device, T, false> grads(args.device, extent, args.in(0).dtype);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T *x = a.in<T>(0), *dy = a.in<T>(3), *added = adds ? a.in<T>(kAddedToRmsGrad) : nullptr;
            const C *weight = a.in<C>(1), *inv_rms = a.in<C>(2);
            grads.run(a,
                      {extent.inner, x, weight, nullptr, inv_rms, dy, a.out<T>(0),
                       can_pack({x, weight, dy, added, a.out<T>(0)}), static_cast<C>(offset), added},
                      {{a.out<C>(1)}});
          },
          grads.workspace_bytes(), grads.bytes_again());
    });
  }
};

std::vector<Type> infer_rms_norm(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "rms_norm: the input is a scalar");
  const double eps = args.op.attrs.number("eps");
  check(eps >= 0, "rms_norm: eps is ", eps, ", expected at least 0");
  check_input(args, 1, weight_of_rows(x));
  std::vector<Type> types{{x.shape, x.dtype}, one_a_row(x)};
  check_input(args, kAddedToRms, types[0]);
  if (args.has_in(kAddedToRms)) types.push_back(types[0]);
  return types;
}

std::vector<Type> infer_rms_norm_grad(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "rms_norm_grad: x is a scalar");
  check_input(args, 1, weight_of_rows(x));
  check_input(args, 2, one_a_row(x));
  for (const int slot : {3, kAddedToRmsGrad}) check_input(args, slot, {x.shape, x.dtype});
  return {{x.shape, x.dtype}, weight_of_rows(x)};
}

void rms_norm_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone, "rms_norm: no gradient through inv_rms as an output");
  Attrs attrs;
  if (g.attrs().has("offset")) attrs.set("offset", g.attrs().number("offset"));
  const std::vector<VarId> grads =
      g.call_all("rms_norm_grad", {g.x(0), g.x(1), g.y(1), g.dy()}, attrs, {g.x(0), g.x(1)});
  for (int slot = 0; slot < 2; ++slot) g.set(slot, grads[slot]);
}

VarId build_rms_norm(LayerCall& c) {
  const double offset = c.settings().number("offset");
  const VarId weight = c.wide_param("weight", {c.channels()}, {.kind = Init::Constant, .value = 1 - offset}, false);
  Attrs attrs{{"eps", c.settings().number("eps")}};
  if (offset != 0) attrs.set("offset", offset);
  return c.emit("rms_norm", {c.in(), weight}, attrs);
}

const Register rms_norm{{
    .type = "rms_norm",
    .inputs = {"x", "weight", "added?"},
    .outputs = {"y", "inv_rms", "sum..."},
    .infer = infer_rms_norm,
    .grad = rms_norm_gradient,
    .inplace = {{.in = 0, .out = 0}, {.in = kAddedToRms, .out = 0}, {.in = 0, .out = 2}, {.in = kAddedToRms, .out = 2}},
    .fusions = {{.fusion = Fusion::JoinSum, .input = 0, .fused = with_sum<kAddedToRms>}},
    .along = Along::Rows,
    .kernels = each_device<RmsNorm>(),
    .layer = {.name = "rms_norm",
              .aliases = {"RMSNormalization"},
              .keys = {{.name = "eps",
                        .type = KeyType::Number,
                        .absent = 1e-5,
                        .min = 0,
                        .help = "added to the mean of the squares"},
                       {.name = "offset",
                        .type = KeyType::Number,
                        .absent = 0.0,
                        .help = "added to the weight, which begins at 1 less this: of Gemma 1"}},
              .build = build_rms_norm,
              .help = "scale each row to a root mean square of 1 over its channels"},
}};

const Register rms_norm_grad{{
    .type = "rms_norm_grad",
    .inputs = {"x", "weight", "inv_rms", "dy", "added?"},
    .outputs = {"dx", "dweight"},
    .infer = infer_rms_norm_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 3, .out = 0}, {.in = kAddedToRmsGrad, .out = 0}},
    .adds = kAddedToRmsGrad,
    .kernels = each_device<RmsNormGrad>(),
}};

}  // namespace
}  // namespace lethe
