// y = a + b, where b may broadcast. The gradient reads nothing: dy goes on as it is, summed to b's shape.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/activation.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

struct Add {
  template <class T>
  HD T operator()(T a, T b) const {
    return a + b;
  }
};

struct AddRelu {
  template <class T>
  HD T operator()(T a, T b) const {
    return Relu{}(a + b);
  }
};

void add_grad(GradBuilder& g) {
  g.set(0, g.dy());
  const Shape& b = g.var(g.x(1)).shape;
  if (b == g.var(g.y()).shape)
    g.set(1, g.dy());
  else
    g.set(1, "sum_to", {g.dy()}, {{"shape", b}});
}

/// With an activation of the sum, if the op has one.
struct AddKernels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return has_relu(args.op.attrs) ? Pairs<AddRelu, Floats>::prepare<Device>(args)
                                   : Pairs<Add, Numbers>::prepare<Device>(args);
  }
};

VarId build_add(LayerCall& c) {
  if (c.inputs() == 2) return c.emit("add", broadcast_second(c));
  std::vector<VarId> all;
  for (int slot = 0; slot < c.inputs(); ++slot) all.push_back(c.in(slot));
  return c.emit("sum_n", all);
}

const Register add{{
    .type = "add",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = same_as_broadcast,
    .grad = add_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .activates = Activates::Everywhere,
    .along = Along::Elements,
    .kernels = each_device<AddKernels>(),
    .layer = {.name = "add",
              .aliases = {"Add", "Sum"},
              .min_inputs = 2,
              .max_inputs = -1,
              .build = build_add,
              .help = "sum of the inputs; one of two may broadcast"},
}};

}  // namespace
}  // namespace lethe
