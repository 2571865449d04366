// y = sqrt(x). The gradient reads y, not x.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Sqrt {
  template <class T>
  HD T operator()(T x) const {
    return std::sqrt(x);
  }
};

struct SqrtGrad {
  template <class T>
  HD T operator()(T y, T dy) const {
    return dy / (y + y);
  }
};

const Register sqrt{{
    .type = "sqrt",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "sqrt_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Sqrt, 1>(),
    .layer = {.name = "sqrt",
              .aliases = {"Sqrt"},
              .build = [](LayerCall& c) { return c.emit("sqrt", {c.in()}); },
              .help = "square root"},
}};

const Register sqrt_grad{{
    .type = "sqrt_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<SqrtGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
