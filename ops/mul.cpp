// y = a * b, where b may broadcast.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Mul {
  template <class T>
  HD T operator()(T a, T b) const {
    return a * b;
  }
};

void mul_grad(GradBuilder& g) {
  g.set(0, "mul", {g.dy(), g.x(1)});
  set_second(g, g.x(0));
}

const Register mul{{
    .type = "mul",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = same_as_broadcast,
    .grad = mul_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Mul>(),
    .layer = {.name = "mul",
              .aliases = {"Mul"},
              .min_inputs = 2,
              .max_inputs = -1,
              .build = [](LayerCall& c) { return emit_pairs(c, "mul", Commutes::Yes); },
              .help = "product of the inputs, which broadcast"},
}};

}  // namespace
}  // namespace lethe
