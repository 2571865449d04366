// y = (x - mean) * inv_std * weight + bias along the last axis, inv_std = 1 / sqrt(biased variance + eps). Mean and
// inv_std, one of each a row, are kept for the gradient.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/dtypes.h"
#include "kernels/norm/batch.h"
#include "kernels/norm/row_norm.h"
#include "kernels/norm/row_norm_grads.h"
#include "kernels/norm/row_types.h"

namespace lethe {
namespace {

constexpr int kAddedToLayer = 3, kAddedToLayerGrad = 5;  // the slots

struct LayerNorm {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const double eps = args.op.attrs.number("eps");
    const bool has_bias = args.has_in(2), adds = args.has_in(kAddedToLayer);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel([=](const KernelArgs& a) {
        const C *weight = a.in<C>(1), *bias = has_bias ? a.in<C>(2) : nullptr;
        const T* const added = adds ? a.in<T>(kAddedToLayer) : nullptr;
        T* const sum = adds ? a.out<T>(3) : nullptr;
        const bool packed = can_pack({a.in<T>(0), weight, bias, a.out<T>(0), added, sum});
        for_each_row(Device{}, a.stream, extent.middle, extent.inner,
                     NormRow<T, true>{extent.inner, eps, a.in<T>(0), weight, bias, a.out<T>(0), a.out<C>(1),
                                      a.out<C>(2), packed, 0, added, sum});
      });
    });
  }
};

struct LayerNormGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = channels_of(args.in(0).shape);
    const bool adds = args.has_in(kAddedToLayerGrad);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const NormGrads<Device, T, true> grads(args.device, extent, args.in(0).dtype);
      return make_kernel(
          [=](const KernelArgs& a) {
            const T *x = a.in<T>(0), *dy = a.in<T>(4), *added = adds ? a.in<T>(kAddedToLayerGrad) : nullptr;
            const C *weight = a.in<C>(1), *mean = a.in<C>(2), *inv_std = a.in<C>(3);
            grads.run(a,
                      {extent.inner, x, weight, mean, inv_std, dy, a.out<T>(0),
                       can_pack({x, weight, dy, added, a.out<T>(0)}), 0, added},
                      {{a.out<C>(1), a.out<C>(2)}});
          },
          grads.workspace_bytes(), grads.bytes_again());
    });
  }
};

std::vector<Type> infer_layer_norm(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "layer_norm: the input is a scalar");
  const double eps = args.op.attrs.number("eps");
  check(eps >= 0, "layer_norm: eps is ", eps, ", expected at least 0");
  for (const int slot : {1, 2}) check_input(args, slot, weight_of_rows(x));
  std::vector<Type> types{{x.shape, x.dtype}, one_a_row(x), one_a_row(x)};
  check_input(args, kAddedToLayer, types[0]);
  if (args.has_in(kAddedToLayer)) types.push_back(types[0]);
  return types;
}

std::vector<Type> infer_layer_norm_grad(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "layer_norm_grad: x is a scalar");
  check_input(args, 1, weight_of_rows(x));
  for (const int slot : {2, 3}) check_input(args, slot, one_a_row(x));
  for (const int slot : {4, kAddedToLayerGrad}) check_input(args, slot, {x.shape, x.dtype});
  return {{x.shape, x.dtype}, weight_of_rows(x), weight_of_rows(x)};
}

void layer_norm_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone && g.dy(2) == kNone,
        "layer_norm: no gradient through mean and inv_std as outputs");
  const VarId like_bias = g.x(2) == kNone ? g.x(1) : g.x(2);
  const std::vector<VarId> grads =
      g.call_all("layer_norm_grad", {g.x(0), g.x(1), g.y(1), g.y(2), g.dy()}, {}, {g.x(0), g.x(1), like_bias});
  for (int slot = 0; slot < 3; ++slot) g.set(slot, grads[slot]);
}

VarId build_layer_norm(LayerCall& c) {
  const Shape last{c.channels()};
  const VarId weight = c.wide_param("weight", last, {.kind = Init::Constant, .value = 1}, false);
  const VarId bias = c.settings().flag("bias") ? c.wide_param("bias", last, {}, false) : kNone;
  return c.emit("layer_norm", {c.in(), weight, bias}, {{"eps", c.settings().number("eps")}});
}

const Register layer_norm{{
    .type = "layer_norm",
    .inputs = {"x", "weight", "bias?", "added?"},
    .outputs = {"y", "mean", "inv_std", "sum..."},
    .infer = infer_layer_norm,
    .grad = layer_norm_gradient,
    .inplace =
        {{.in = 0, .out = 0}, {.in = kAddedToLayer, .out = 0}, {.in = 0, .out = 3}, {.in = kAddedToLayer, .out = 3}},
    .fusions = {{.fusion = Fusion::JoinSum, .input = 0, .fused = with_sum<kAddedToLayer>}},
    .along = Along::Rows,
    .kernels = each_device<LayerNorm>(),
    .layer =
        {.name = "layer_norm",
         .aliases = {"LayerNormalization"},
         .keys = {{.name = "eps", .type = KeyType::Number, .absent = 1e-5, .min = 0, .help = "added to the variance"},
                  {.name = "bias", .type = KeyType::Bool, .absent = 1}},
         .build = build_layer_norm,
         .help = "normalise each row over its channels"},
}};

const Register layer_norm_grad{{
    .type = "layer_norm_grad",
    .inputs = {"x", "weight", "mean", "inv_std", "dy", "added?"},
    .outputs = {"dx", "dweight", "dbias"},
    .infer = infer_layer_norm_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 4, .out = 0}, {.in = kAddedToLayerGrad, .out = 0}},
    .adds = kAddedToLayerGrad,
    .kernels = each_device<LayerNormGrad>(),
}};

}  // namespace
}  // namespace lethe
