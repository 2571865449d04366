// y = the part [begin, end) of x along one axis. The gradient puts dy among zeros. As a view, y is that part of
// x's memory.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

struct Slice {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Var &x = args.in(0), &y = args.out(0);
    const Shape strides = strides_of(x.shape, x.pitch);
    const auto axis = static_cast<std::size_t>(args.op.attrs.integer("axis"));
    return copy_parts<Device>(args, {{.box = make_box(y.shape, strides_of(y.shape, y.pitch), strides),
                                      .from = args.op.attrs.integer("begin") * strides[axis]}});
  }
};

std::vector<Type> infer_slice(const InferArgs& args) {
  const Var& x = args.in(0);
  const std::int64_t axis = args.op.attrs.integer("axis"), begin = args.op.attrs.integer("begin"),
                     end = args.op.attrs.integer("end");
  check(axis >= 0 && axis < static_cast<std::int64_t>(x.shape.size()), "slice: axis is ", axis, ", input has ",
        x.shape.size(), " axes");
  Shape shape = x.shape;
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  check(0 <= begin && begin < end && end <= size, "slice: [", begin, ", ", end, ") is no part of ", size,
        " along axis ", axis);
  size = end - begin;
  return {{shape, x.dtype}};
}

void slice_grad(GradBuilder& g) {
  const Shape& x = g.var(g.x(0)).shape;
  const auto axis = static_cast<std::size_t>(g.attrs().integer("axis"));
  Ints before(x.size(), 0), after(x.size(), 0);
  before[axis] = g.attrs().integer("begin");
  after[axis] = x[axis] - g.attrs().integer("end");
  g.set(0, "pad", {g.dy()}, {{"before", before}, {"after", after}});
}

VarId build_slice(LayerCall& c) {
  const std::int64_t axis = c.axis("axis"), size = c.shape()[static_cast<std::size_t>(axis)];
  return c.emit("slice", {c.in()},
                {{"axis", axis}, {"begin", c.settings().integer("begin")}, {"end", c.settings().integer("end", size)}});
}

const Register slice{{
    .type = "slice",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_slice,
    .grad = slice_grad,
    .as_view = "slice_view",
    .pitched = true,
    .along = Along::Elements,
    .kernels = each_device<Slice>(),
    .layer = {.name = "slice",
              .aliases = {"Slice"},
              .keys = {{.name = "axis", .type = KeyType::Axis, .absent = "channels", .help = "axis that is cut"},
                       {.name = "begin", .type = KeyType::Int, .absent = 0, .min = 0, .help = "first index"},
                       {.name = "end",
                        .type = KeyType::Int,
                        .min = 1,
                        .help = "index after the last; default all",
                        .optional = true}},
              .build = build_slice,
              .help = "a range of one axis"},
}};

const Register slice_view{{
    .type = "slice_view",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_slice,
    .view = ViewOf::Part,
}};

}  // namespace
}  // namespace lethe
