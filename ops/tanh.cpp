// y = tanh(x). The gradient reads y, not x.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Tanh {
  template <class T>
  HD T operator()(T x) const {
    return std::tanh(x);
  }
};

struct TanhGrad {
  template <class T>
  HD T operator()(T y, T dy) const {
    return dy * (T(1) - y * y);
  }
};

const Register tanh{{
    .type = "tanh",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "tanh_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<Tanh, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "tanh",
              .aliases = {"Tanh"},
              .build = [](LayerCall& c) { return c.emit("tanh", {c.in()}); },
              .help = "hyperbolic tangent"},
}};

const Register tanh_grad{{
    .type = "tanh_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = map<TanhGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
