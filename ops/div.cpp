// y = a / b, where b may broadcast. The gradient reads y, not a: d(a / b) / db = -y / b.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Div {
  template <class T>
  HD T operator()(T a, T b) const {
    return a / b;
  }
};

void div_grad(GradBuilder& g) {
  g.set(0, "div", {g.dy(), g.x(1)});
  if (!g.wants(1)) return;
  const VarId b = g.x(1);
  const bool same = g.var(b).shape == g.var(g.y()).shape;
  const VarId sum =
      same ? g.call("mul", {g.dy(), g.y()}, {}, b) : g.call("sum_to", {g.dy(), g.y()}, {{"shape", g.var(b).shape}}, b);
  const VarId quotient = g.call("div", {sum, b}, {}, b);
  g.set(1, "scale", {quotient}, {{"a", -1.0}, {"b", 0.0}});
}

const Register div{{
    .type = "div",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = same_as_broadcast,
    .grad = div_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Div, Floats>(),
    .layer = {.name = "div",
              .aliases = {"Div"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "div", Commutes::No); },
              .help = "first input divided by the second; both broadcast"},
}};

}  // namespace
}  // namespace lethe
