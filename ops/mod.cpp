// y = a - b trunc(a / b), the remainder that has the sign of a (C's fmod, ONNX's Mod with fmod = 1), where b may
// broadcast. The gradient of a is dy, that of b is -trunc(a / b) dy, as PyTorch's fmod has them.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Mod {
  template <class T>
  HD T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};

struct ModGrad {
  template <class T>
  HD T operator()(T a, T b, T dy) const {
    return -dy * std::trunc(a / b);
  }
};

const Register mod{{
    .type = "mod",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = same_as_broadcast,
    .grad =
        [](GradBuilder& g) {
          g.set(0, g.dy());
          set_second(g, "mod_grad", {g.x(0), g.x(1), g.dy()}, {});
        },
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Mod, Floats>(),
    .layer = {.name = "mod",
              .aliases = {"Mod"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "mod", Commutes::No); },
              .help = "remainder of the first input by the second, of the sign of the first; both broadcast"},
}};

const Register mod_grad{{
    .type = "mod_grad",
    .inputs = {"a", "b", "dy"},
    .outputs = {"db"},
    .infer = same_as_broadcast,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}, {.in = 2, .out = 0}},
    .kernels = map_pairs<ModGrad, Floats, 3>(),
}};

}  // namespace
}  // namespace lethe
