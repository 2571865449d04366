// y = log(1 + e^x), without overflow. The gradient reads x.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Softplus {
  template <class T>
  HD T operator()(T x) const {
    return (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::fabs(x)));
  }
};

struct SoftplusGrad {
  template <class T>
  HD T operator()(T x, T dy) const {
    return dy / (T(1) + std::exp(-x));
  }
};

const Register softplus{{
    .type = "softplus",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "softplus_grad", {g.x(0), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Softplus, 1>(),
    .layer = {.name = "softplus",
              .aliases = {"Softplus"},
              .build = [](LayerCall& c) { return c.emit("softplus", {c.in()}); },
              .help = "log(1 + e^x)"},
}};

const Register softplus_grad{{
    .type = "softplus_grad",
    .inputs = {"x", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 1, .out = 0}},
    .kernels = map<SoftplusGrad, 2>(),
}};

}  // namespace
}  // namespace lethe
