// y = 1 / (1 + exp(-x)). The gradient reads y, not x.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Sigmoid {
  template <class T>
  HD T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

struct SigmoidGrad {
  template <class T>
  HD T operator()(T y, T dy) const {
    return dy * y * (T(1) - y);
  }
};

const Register sigmoid{{
    .type = "sigmoid",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "sigmoid_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<Sigmoid, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "sigmoid",
              .aliases = {"Sigmoid"},
              .build = [](LayerCall& c) { return c.emit("sigmoid", {c.in()}); },
              .help = "1 / (1 + exp(-x))"},
}};

const Register sigmoid_grad{{
    .type = "sigmoid_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = map<SigmoidGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
