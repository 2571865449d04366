// y = max(x, 0). The gradient reads y, not x, so x may be overwritten.
#include "framework/autodiff.h"
#include "framework/op_def.h"
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
    .activation = true,
    .kernels = map<Relu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "relu",
              .aliases = {"Relu"},
              .build = [](LayerCall& c) { return c.emit("relu", {c.in()}); },
              .help = "max(x, 0)"},
}};

const Register relu_grad{{
    .type = "relu_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 1, .out = 0}},
    .pitched = true,
    .masks = true,
    .kernels = map<ReluGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
