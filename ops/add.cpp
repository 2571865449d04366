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
  set_second(g);
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
  std::vector<VarId> all;
  bool are_alike = c.inputs() > 2;
  for (int slot = 0; slot < c.inputs(); ++slot) {
    all.push_back(c.in(slot));
    are_alike = are_alike && c.shape(slot) == c.shape(0);
  }
  return are_alike ? c.emit("sum_n", all) : emit_pairs(c, "add", Commutes::Yes);
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
              .help = "sum of the inputs, which broadcast"},
}};

}  // namespace
}  // namespace lethe
