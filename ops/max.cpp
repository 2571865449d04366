// y = the larger of a and b, or the smaller, where b may broadcast; NaN if either is. Equal operands share the
// gradient, as PyTorch's maximum and minimum do.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Larger {
  template <class T>
  HD static bool first(T a, T b) {
    return a > b;
  }
};
struct Smaller {
  template <class T>
  HD static bool first(T a, T b) {
    return a < b;
  }
};

template <class Order>
struct Extreme {
  template <class T>
  HD T operator()(T a, T b) const {
    return Order::first(a, b) || a != a ? a : b;
  }
};

/// The gradient of operand `of`, before it is summed.
template <class Order>
struct ExtremeGrad {
  bool of_second;
  explicit ExtremeGrad(const Attrs& attrs) : of_second(attrs.integer("of") == 1) {}
  template <class T>
  HD T operator()(T a, T b, T dy) const {
    const T mine = of_second ? b : a, other = of_second ? a : b;
    return Order::first(mine, other) ? dy : mine == other ? dy / T(2) : T(0);
  }
};

void extreme_grad_rule(GradBuilder& g, const char* type) {
  g.set(0, type, {g.x(0), g.x(1), g.dy()}, {{"of", 0}});
  set_second(g, type, {g.x(0), g.x(1), g.dy()}, {{"of", 1}});
}

template <class Order>
OpDef extreme(const char* type, Grad grad, Layer layer) {
  return {.type = type,
          .inputs = {"a", "b"},
          .outputs = {"y"},
          .infer = same_as_broadcast,
          .grad = grad,
          .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
          .kernels = map_pairs<Extreme<Order>>(),
          .layer = std::move(layer)};
}

template <class Order>
OpDef extreme_grad(const char* type) {
  return {.type = type,
          .inputs = {"a", "b", "dy"},
          .outputs = {"dx"},
          .infer = same_as_broadcast,
          .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}, {.in = 2, .out = 0}},
          .kernels = map_pairs<ExtremeGrad<Order>, Floats, 3>()};
}

const Register max{extreme<Larger>("max", [](GradBuilder& g) { extreme_grad_rule(g, "max_grad"); },
                                   {.name = "max",
                                    .aliases = {"Max"},
                                    .min_inputs = 2,
                                    .max_inputs = -1,
                                    .build = [](LayerCall& c) { return emit_pairs(c, "max", Commutes::Yes); },
                                    .help = "the largest of the inputs, which broadcast, element by element"})};
const Register min{extreme<Smaller>("min", [](GradBuilder& g) { extreme_grad_rule(g, "min_grad"); },
                                    {.name = "min",
                                     .aliases = {"Min"},
                                     .min_inputs = 2,
                                     .max_inputs = -1,
                                     .build = [](LayerCall& c) { return emit_pairs(c, "min", Commutes::Yes); },
                                     .help = "the smallest of the inputs, which broadcast, element by element"})};

const Register max_grad{extreme_grad<Larger>("max_grad")};
const Register min_grad{extreme_grad<Smaller>("min_grad")};

}  // namespace
}  // namespace lethe
