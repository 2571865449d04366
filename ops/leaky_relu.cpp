// y = x for x > 0, else slope * x. With a slope that is not negative y has the sign of x: the gradient reads y then,
// and x may be overwritten.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct LeakyRelu {
  double slope;
  explicit LeakyRelu(const Attrs& attrs) : slope(attrs.number("slope")) {}
  template <class T>
  HD T operator()(T x) const {
    return x <= T(0) ? static_cast<T>(slope) * x : x;
  }
};

struct LeakyReluGrad {
  double slope;
  explicit LeakyReluGrad(const Attrs& attrs) : slope(attrs.number("slope")) {}
  template <class T>
  HD T operator()(T sign, T dy) const {
    return sign <= T(0) ? static_cast<T>(slope) * dy : dy;
  }
};

void leaky_relu_grad_rule(GradBuilder& g) {
  const VarId sign = g.attrs().number("slope") >= 0 ? g.y() : g.x(0);
  g.set(0, "leaky_relu_grad", {sign, g.dy()}, g.attrs());
}

const Register leaky_relu{{
    .type = "leaky_relu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad = leaky_relu_grad_rule,
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<LeakyRelu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "leaky_relu",
              .aliases = {"LeakyRelu"},
              .keys = {{.name = "slope", .type = KeyType::Number, .absent = 0.01, .help = "factor of values below 0"}},
              .build =
                  [](LayerCall& c) {
                    return c.emit("leaky_relu", {c.in()}, {{"slope", c.settings().number("slope")}});
                  },
              .help = "x, or slope * x below 0"},
}};

const Register leaky_relu_grad{{
    .type = "leaky_relu_grad",
    .inputs = {"sign", "dy"},
    .outputs = {"dx"},
    .infer = same_as_second,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .pitched = true,
    .kernels = map<LeakyReluGrad, 2, Floats, Rows::Pitched>(),
}};

}  // namespace
}  // namespace lethe
