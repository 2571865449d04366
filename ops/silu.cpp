// y = x / (1 + exp(-x)) (Elfwing et al., 2018; the gate of SwiGLU). The gradient reads x.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/exp.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Silu {
  template <class T>
  HD T operator()(T x) const {
    return x * logistic(x);
  }
};

struct SiluGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    const T share = logistic(x);
    return dy * (share + x * share * (T(1) - share));
  }
};

const Register silu{{
    .type = "silu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "silu_grad", {g.x(0), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<Silu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "silu",
              .aliases = {"SiLU", "Swish"},
              .build = [](LayerCall& c) { return c.emit("silu", {c.in()}); },
              .help = "x / (1 + exp(-x))"},
}};

const Register silu_grad{{
    .type = "silu_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = map<SiluGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
