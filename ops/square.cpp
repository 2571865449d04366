// y = x * x.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Square {
  template <class T>
  HD T operator()(T x) const {
    return x * x;
  }
};

struct SquareGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    return (x + x) * dy;
  }
};

const Register square{{
    .type = "square",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "square_grad", {g.x(0), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Square, 1>(),
    .layer = {.name = "square", .build = [](LayerCall& c) { return c.emit("square", {c.in()}); }, .help = "x * x"},
}};

const Register square_grad{{
    .type = "square_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<SquareGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
