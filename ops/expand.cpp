// y = x repeated along axes of size 1 until it has `shape`, where -1 is the size that x has; a scalar fills all of it.
// The gradient sums what was repeated and reads nothing.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/broadcast.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

struct Expand {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return copy_parts<Device>(args, {{.box = broadcast_box(args.out(0).shape, args.in(0).shape)}});
  }
};

std::vector<Type> infer_expand(const InferArgs& args) {
  const Shape &from = args.in(0).shape, &wanted = args.op.attrs.ints("shape");
  Shape to = wanted;
  bool fits = from.empty() || from.size() == to.size();
  for (std::size_t axis = 0; fits && axis < to.size(); ++axis) {
    if (to[axis] == -1 && !from.empty()) to[axis] = from[axis];
    fits = to[axis] >= 1 && (from.empty() || from[axis] == to[axis] || from[axis] == 1);
  }
  check(fits, "expand: ", text_of(from), " does not broadcast to ", shortened(text_of(wanted)));
  return {{to, args.in(0).dtype}};
}

VarId build_expand(LayerCall& c) {
  Shape shape = c.settings().ints("shape");
  const Layout layout = c.layout_of(shape);
  const bool is_one = c.shape().empty() || c.shape()[0] == 1;
  shape.insert(shape.begin(), c.inputs() == 2 && is_one ? c.batch(1) : is_one ? 1 : c.batch());
  shape = memory_shape(std::move(shape), layout);
  const VarId x = aligned(c, c.in(), shape.size(), layout);
  const Shape& own = c.var(x).shape;
  for (std::size_t axis = 0; own.size() == shape.size() && axis < shape.size(); ++axis)
    if (shape[axis] == 1) shape[axis] = own[axis];
  return own == shape ? x : c.lay_out(c.emit("expand", {x}, expansion(own, shape)), layout);
}

const Register expand{{
    .type = "expand",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_expand,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "sum_to", {g.dy()}, {{"shape", g.var(g.x(0)).shape}});
        },
    .along = Along::Elements,
    .kernels = each_device<Expand>(),
    .layer = {.name = "expand",
              .aliases = {"Expand"},
              .keys = {{.name = "shape",
                        .type = KeyType::IntList,
                        .min = 1,
                        .help = "of a sample, images [C, H, W]; where it is 1 the input's size stays"},
                       layout_key()},
              .max_inputs = 2,
              .build = build_expand,
              .help = "repeats the input along axes of size 1; what is the same for all samples, as a parameter is, is "
                      "there for each sample of a second input"},
}};

}  // namespace
}  // namespace lethe
