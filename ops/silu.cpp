// y = x / (1 + exp(-alpha x)), alpha 1 unless told otherwise (Elfwing et al., 2018; the gate of SwiGLU). The gradient
// reads x.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/exp.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct SiluAlpha {
  double alpha;
  explicit SiluAlpha(const Attrs& attrs) : alpha(attrs.number("alpha", 1)) {}
};

struct Silu : SiluAlpha {
  using SiluAlpha::SiluAlpha;
  template <class T>
  HD T operator()(T x) const {
    return x * logistic(static_cast<T>(alpha) * x);
  }
};

struct SiluGrad : SiluAlpha {
  using SiluAlpha::SiluAlpha;
  template <class T>
  HD T operator()(T x, T dy) const {
    const T scaled = static_cast<T>(alpha) * x, share = logistic(scaled);
    return dy * (share + scaled * share * (T(1) - share));
  }
};

VarId build_silu(LayerCall& c) {
  const double alpha = c.settings().number("alpha");
  return c.emit("silu", {c.in()}, alpha == 1 ? Attrs{} : Attrs{{"alpha", alpha}});
}

const Register silu{{
    .type = "silu",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "silu_grad", {g.x(0), g.dy()}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .pitched = true,
    .kernels = map<Silu, 1, Floats, Rows::Pitched>(),
    .layer = {.name = "silu",
              .aliases = {"SiLU", "Swish"},
              .keys = {{.name = "alpha", .type = KeyType::Number, .absent = 1.0, .help = "factor of x in exp"}},
              .build = build_silu,
              .help = "x / (1 + exp(-alpha * x))"},
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
