// y = a - b, where b may broadcast.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Sub {
  template <class T>
  HD T operator()(T a, T b) const {
    return a - b;
  }
};

void sub_grad(GradBuilder& g) {
  g.set(0, g.dy());
  if (!g.wants(1)) return;
  const Shape& b = g.var(g.x(1)).shape;
  const bool same = b == g.var(g.y()).shape;
  const VarId sum = same ? g.dy() : g.call("sum_to", {g.dy()}, {{"shape", b}}, g.x(1));
  g.set(1, "scale", {sum}, {{"a", -1.0}, {"b", 0.0}});
}

const Register sub{{
    .type = "sub",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = same_as_broadcast,
    .grad = sub_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Sub>(),
    .layer = {.name = "sub",
              .aliases = {"Sub"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "sub", Commutes::No); },
              .help = "first input minus second; both broadcast"},
}};

}  // namespace
}  // namespace lethe
