// y = the inputs one after the other along an axis; their other sizes are equal. The gradients are slices of dy. As a
// view, y is where the inputs have been written already.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {

template std::unique_ptr<Kernel> copy_parts<Cpu>(const PrepareArgs&, std::vector<Part>, bool);
#ifdef LETHE_DEVICE_CODE
template std::unique_ptr<Kernel> copy_parts<Cuda>(const PrepareArgs&, std::vector<Part>, bool);
#endif

namespace {

struct Concat {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const auto axis = static_cast<std::size_t>(args.op.attrs.integer("axis"));
    const Shape strides = strides_of(args.out(0).shape, args.out(0).pitch);
    std::vector<Part> parts;
    std::int64_t at = 0;
    for (int slot = 0; slot < static_cast<int>(args.op.in.size()); ++slot) {
      const Var& x = args.in(slot);
      parts.push_back({.box = make_box(x.shape, strides, strides_of(x.shape, x.pitch)), .to = at * strides[axis]});
      at += x.shape[axis];
    }
    return copy_parts<Device>(args, std::move(parts));
  }
};

std::vector<Type> infer_concat(const InferArgs& args) {
  check(!args.op.in.empty(), "concat: no inputs");
  const std::int64_t axis = args.op.attrs.integer("axis");
  Shape shape = args.in(0).shape;
  check(axis >= 0 && axis < static_cast<std::int64_t>(shape.size()), "concat: axis is ", axis, ", inputs have ",
        shape.size(), " axes");
  const auto along = static_cast<std::size_t>(axis);
  shape[along] = 0;
  for (int slot = 0; slot < static_cast<int>(args.op.in.size()); ++slot) {
    const Var& x = args.in(slot);
    Shape other = x.shape;
    if (other.size() == shape.size()) other[along] = shape[along];
    check(other == shape && x.dtype == args.in(0).dtype, "concat: input ", slot, " is ", text_of(x), ", the first is ",
          text_of(args.in(0)), "; only axis ", axis, " may differ");
    shape[along] = checked_add(shape[along], x.shape[along], "concat: the size of an axis");
  }
  return {{shape, args.in(0).dtype}};
}

void concat_grad(GradBuilder& g) {
  const std::int64_t axis = g.attrs().integer("axis");
  std::int64_t begin = 0;
  for (int slot = 0; slot < g.inputs(); ++slot) {
    const std::int64_t end = begin + g.var(g.x(slot)).shape[static_cast<std::size_t>(axis)];
    g.set(slot, "slice", {g.dy()}, {{"axis", axis}, {"begin", begin}, {"end", end}});
    begin = end;
  }
}

VarId build_concat(LayerCall& c) {
  std::vector<VarId> all;
  for (int slot = 0; slot < c.inputs(); ++slot) all.push_back(c.in(slot));
  return c.emit("concat", all, {{"axis", c.axis("axis")}});
}

const Register concat{{
    .type = "concat",
    .inputs = {"x..."},
    .outputs = {"y"},
    .infer = infer_concat,
    .grad = concat_grad,
    .as_view = "concat_view",
    .pitched = true,
    .along = Along::Elements,
    .kernels = each_device<Concat>(),
    .layer = {.name = "concat",
              .aliases = {"Concat"},
              .keys = {{.name = "axis", .type = KeyType::Axis, .absent = "channels", .help = "axis that grows"}},
              .max_inputs = -1,
              .build = build_concat,
              .help = "the inputs side by side along an axis"},
}};

const Register concat_view{{
    .type = "concat_view",
    .inputs = {"x..."},
    .outputs = {"y"},
    .infer = infer_concat,
    .view = ViewOf::Parts,
}};

}  // namespace
}  // namespace lethe
