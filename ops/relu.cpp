// y = max(x, 0). The gradient reads y, not x, so x may be overwritten.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/activation.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct ReluGrad {
  template <class T>
  HD T operator()(T y, T dy) const {
    return y <= T(0) ? T(0) : dy;
  }
};

/// Of the sum of two gradients (mask_sums). It is rounded when it is stored, as that of an op of its own.
struct ReluGradOfSum {
  template <class T>
  HD T operator()(T y, T dy, T more) const {
    return ReluGrad{}(y, dy + more);
  }
};

struct PrepareReluGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return args.has_in(2) ? Map<ReluGradOfSum, 3, Floats, Rows::Pitched>::prepare<Device>(args)
                          : Map<ReluGrad, 2, Floats, Rows::Pitched>::prepare<Device>(args);
  }
};

std::vector<Type> infer_relu_grad(const InferArgs& args) {
  check_input(args, 2, {args.in(1).shape, args.in(1).dtype});
  return same_as_second(args);
}

const Register relu{{
    .type = "relu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "relu_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .part = FusionPart::Activation,
    .kernels = map<Relu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "relu",
              .aliases = {"Relu"},
              .build = [](LayerCall& c) { return c.emit("relu", {c.in()}); },
              .help = "max(x, 0)"},
}};

const Register relu_grad{{
    .type = "relu_grad",
    .inputs = {"y", "dy", "more?"},
    .outputs = {"dx"},
    .infer = infer_relu_grad,
    .inplace = {{.in = 1, .out = 0}, {.in = 2, .out = 0}},
    .pitched = true,
    .part = FusionPart::Mask,
    .kernels = each_device<PrepareReluGrad>(),
}};

}  // namespace
}  // namespace lethe
