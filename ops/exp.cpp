// y = exp(x), whose gradient is dy * y: x may be overwritten.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Exp {
  template <class T>
  HD T operator()(T x) const {
    return std::exp(x);
  }
};

const Register exp{{
    .type = "exp",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "mul", {g.dy(), g.y()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Exp, 1>(),
    .layer = {.name = "exp",
              .aliases = {"Exp"},
              .build = [](LayerCall& c) { return c.emit("exp", {c.in()}); },
              .help = "e to the power x"},
}};

}  // namespace
}  // namespace lethe
