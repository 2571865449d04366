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
  const Shape& b = g.var(g.x(1)).shape;
  if (b == g.var(g.y()).shape)
    g.set(1, "mul", {g.dy(), g.x(0)});
  else
    g.set(1, "sum_to", {g.dy(), g.x(0)}, {{"shape", b}});
}

VarId build_mul(LayerCall& c) {
  VarId product = c.emit("mul", broadcast_second(c));
  for (int slot = 2; slot < c.inputs(); ++slot) product = c.emit("mul", {product, c.in(slot)});
  return product;
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
              .build = build_mul,
              .help = "product of the inputs; all but the largest may broadcast"},
}};

}  // namespace
}  // namespace lethe
