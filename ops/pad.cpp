// y = x with `before` and `after` zeros along each axis. The gradient is the part of dy that x stood in.
#include <numeric>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

/// Where x begins in the padded array.
std::int64_t offset_of(const Ints& before, const Shape& padded) {
  const Shape strides = strides_of(padded);
  return std::inner_product(before.begin(), before.end(), strides.begin(), std::int64_t{0});
}

struct Pad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &x = args.in(0).shape, &y = args.out(0).shape;
    return copy_parts<Device>(
        args, {{.box = make_box(x, strides_of(y), strides_of(x)), .to = offset_of(args.op.attrs.ints("before"), y)}},
        true);
  }
};

struct PadGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &dy = args.in(0).shape, &dx = args.out(0).shape;
    return copy_parts<Device>(args, {{.box = make_box(dx, strides_of(dx), strides_of(dy)),
                                      .from = offset_of(args.op.attrs.ints("before"), dy)}});
  }
};

/// The input's shape with `sign` times the pads.
Shape padded(const InferArgs& args, std::int64_t sign) {
  Shape shape = args.in(0).shape;
  const Ints &before = args.op.attrs.ints("before"), &after = args.op.attrs.ints("after");
  check(before.size() == shape.size() && after.size() == shape.size(), "pad: before is ", text_of(before), ", after ",
        text_of(after), ", input has ", shape.size(), " axes");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    check(before[axis] >= 0 && after[axis] >= 0, "pad: before is ", text_of(before), ", after ", text_of(after),
          ", expected none below 0");
    const std::int64_t zeros = checked_add(before[axis], after[axis], "pad: the zeros of an axis");
    shape[axis] = checked_add(shape[axis], sign * zeros, "pad: the size of an axis");
    check(shape[axis] > 0, "pad: ", zeros, " zeros leave nothing of ", shape[axis] + zeros);
  }
  return shape;
}

VarId build_pad(LayerCall& c) {
  c.image();
  const auto before = c.pair("pad"), after = c.settings().has("after") ? c.pair("after") : before;
  return c.emit("pad", {c.in()},
                {{"before", Ints{0, before[0], before[1], 0}}, {"after", Ints{0, after[0], after[1], 0}}});
}

const Register pad{{
    .type = "pad",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{padded(args, 1), args.in(0).dtype}};
    },
    .grad = [](GradBuilder& g) { g.set(0, "pad_grad", {g.dy()}, g.attrs()); },
    .kernels = each_device<Pad>(),
    .layer = {.name = "pad",
              .aliases = {"Pad"},
              .keys = {{.name = "pad",
                        .type = KeyType::IntPair,
                        .min = 0,
                        .max = kMostPixels,
                        .help = "rows and columns of zeros on both sides"},
                       {.name = "after",
                        .type = KeyType::IntPair,
                        .min = 0,
                        .max = kMostPixels,
                        .help = "those below and to the right, if they differ",
                        .optional = true}},
              .build = build_pad,
              .help = "an image with zeros around it"},
}};

const Register pad_grad{{
    .type = "pad_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{padded(args, -1), args.in(0).dtype}};
    },
    .kernels = each_device<PadGrad>(),
}};

}  // namespace
}  // namespace lethe
