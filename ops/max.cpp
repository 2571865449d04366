// y = the larger of a and b; NaN if either is. Equal operands share the gradient, as PyTorch's maximum does.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Max {
  template <class T>
  HD T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

struct MaxGrad {
  template <class T>
  HD T operator()(T mine, T other, T dy) const {
    return mine > other ? dy : mine == other ? dy / T(2) : T(0);
  }
};

std::vector<Type> infer_max(const InferArgs& args) {
  const Var &a = args.in(0), &b = args.in(1);
  check(a.shape == b.shape && a.dtype == b.dtype, "max: operands are ", text_of(a), " and ", text_of(b));
  return {{a.shape, a.dtype}};
}

void max_grad_rule(GradBuilder& g) {
  g.set(0, "max_grad", {g.x(0), g.x(1), g.dy()});
  g.set(1, "max_grad", {g.x(1), g.x(0), g.dy()});
}

VarId build_max(LayerCall& c) {
  VarId largest = c.in(0);
  for (int slot = 1; slot < c.inputs(); ++slot) largest = c.emit("max", {largest, c.in(slot)});
  return largest;
}

const Register max{{
    .type = "max",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = infer_max,
    .grad = max_grad_rule,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map<Max, 2, Numbers>(),
    .layer = {.name = "max",
              .aliases = {"Max"},
              .min_inputs = 2,
              .max_inputs = -1,
              .build = build_max,
              .help = "the largest of the inputs, element by element"},
}};

const Register max_grad{{
    .type = "max_grad",
    .inputs = {"mine", "other", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}, {.in = 2, .out = 0}},
    .kernels = map<MaxGrad, 3>(),
}};

}  // namespace
}  // namespace lethe
