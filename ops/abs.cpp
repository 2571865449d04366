// y = |x|. At 0 the gradient is 0.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Abs {
  template <class T>
  HD T operator()(T x) const {
    return x < T(0) ? -x : x + T(0);  // the sum turns -0 into 0
  }
};

struct AbsGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    return x < T(0) ? -dy : x > T(0) ? dy : T(0);
  }
};

const Register abs{{
    .type = "abs",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "abs_grad", {g.x(0), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Abs, 1>(),
    .layer = {.name = "abs",
              .aliases = {"Abs"},
              .build = [](LayerCall& c) { return c.emit("abs", {c.in()}); },
              .help = "magnitude"},
}};

const Register abs_grad{{
    .type = "abs_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<AbsGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
