// y = x for x > 0, else weight * x, with one weight a channel or one for all (He et al., 2015; PyTorch's PReLU). A
// learned weight may be negative: the gradients read x.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Prelu {
  template <class T>
  HD T operator()(T x, T weight) const {
    return x <= T(0) ? weight * x : x;
  }
};

struct PreluGrad {
  template <class T>
  HD T operator()(T x, T weight, T dy) const {
    return x <= T(0) ? weight * dy : dy;
  }
};

/// Of the weight at each element, before it is summed.
struct PreluWeightGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    return x <= T(0) ? x * dy : T(0);
  }
};

/// [C] as it broadcasts: along the last axis.
template <class F, int N>
struct PreluKernels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    Shape weight(args.in(0).shape.size(), 1);
    weight.back() = args.in(1).shape[0];
    return Pairs<F, Floats, N>::template prepare<Device>(args, weight);
  }
};

std::vector<Type> infer_prelu(const InferArgs& args) {
  const Var &x = args.in(0), &weight = args.in(1);
  check(!x.shape.empty(), args.op.type, ": the input is a scalar, expected channels");
  check(weight.dtype == x.dtype && (weight.shape == Shape{1} || weight.shape == Shape{x.shape.back()}), args.op.type,
        ": weight is ", text_of(weight), ", expected ", name_of(x.dtype), "[1] or [", x.shape.back(), ']');
  check_input(args, 2, {x.shape, x.dtype});
  return same_as_first(args);
}

void prelu_grad_rule(GradBuilder& g) {
  g.set(0, "prelu_grad", {g.x(0), g.x(1), g.dy()});
  if (!g.wants(1)) return;
  VarId of_each = g.call("prelu_weight_grad", {g.x(0), g.dy()}, {}, g.x(1));
  if (g.var(g.x(1)).shape == Shape{1}) of_each = g.call(kReshape, {of_each}, {{"shape", Ints{-1, 1}}}, g.x(1));
  g.set(1, "bias_grad", {of_each});
}

VarId build_prelu(LayerCall& c) {
  const bool is_one = c.settings().text("per") == "all";
  check(is_one || c.shape().size() > 1, "prelu: the input ", text_of(c.shape()), " has no channels");
  const std::int64_t weights = is_one ? 1 : c.channels();
  const Init init = c.init("init", {.kind = Init::Constant, .value = 0.25});
  return c.emit("prelu", {c.in(), c.param("weight", {weights}, init, false)});
}

const Register prelu{{
    .type = "prelu",
    .inputs = {"x", "weight"},
    .outputs = {"y"},
    .infer = infer_prelu,
    .grad = prelu_grad_rule,
    .inplace = {{.in = 0, .out = 0}},
    .along = Along::Rows,
    .kernels = each_device<PreluKernels<Prelu, 2>>(),
    .layer = {.name = "prelu",
              .aliases = {"PRelu", "PReLU"},
              .keys = {{.name = "per",
                        .type = KeyType::Choice,
                        .absent = "channel",
                        .help = "a weight for each channel, or one for all",
                        .choices = {"channel", "all"}},
                       {.name = "init",
                        .type = KeyType::Init,
                        .help = "of the weight; default 0.25 everywhere",
                        .optional = true}},
              .build = build_prelu,
              .help = "x, or a learned weight times x below 0"},
}};

const Register prelu_grad{{
    .type = "prelu_grad",
    .inputs = {"x", "weight", "dy"},
    .outputs = {"dx"},
    .infer = infer_prelu,
    .inplace = {{.in = 0, .out = 0}, {.in = 2, .out = 0}},
    .kernels = each_device<PreluKernels<PreluGrad, 3>>(),
}};

const Register prelu_weight_grad{{
    .type = "prelu_weight_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dweight"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<PreluWeightGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
