// y = x, a copy, of any dtype. As a layer it is nothing: what reads it reads its input.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

struct Assign {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape strides = strides_of(args.in(0).shape);
    return copy_parts<Device>(args, {{.box = make_box(args.in(0).shape, strides, strides)}});
  }
};

const Register assign{{
    .type = "assign",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad = [](GradBuilder& g) { g.set(0, g.dy()); },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<Assign>(),
    .layer = {.name = "identity",
              .aliases = {"Identity"},
              .build = [](LayerCall& c) { return c.in(); },
              .help = "its input; takes no memory"},
}};

}  // namespace
}  // namespace lethe
