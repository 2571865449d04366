// y = x with its axes in another order: axis i of y is axis perm[i] of x.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/builder.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

template <class Values>
Values permuted(const Values& values, const Ints& perm) {
  Values result;
  for (const std::int64_t axis : perm) result.push_back(values[static_cast<std::size_t>(axis)]);
  return result;
}

Ints inverse(const Ints& perm) {
  Ints result(perm.size());
  for (std::size_t axis = 0; axis < perm.size(); ++axis)
    result[static_cast<std::size_t>(perm[axis])] = static_cast<std::int64_t>(axis);
  return result;
}

/// Whether each of 0 .. axes - 1 stands in `perm` once.
bool is_permutation(Ints perm, std::size_t axes) {
  std::sort(perm.begin(), perm.end());
  bool good = perm.size() == axes;
  for (std::size_t axis = 0; good && axis < axes; ++axis) good = perm[axis] == static_cast<std::int64_t>(axis);
  return good;
}

struct Transpose {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& y = args.out(0).shape;
    const Shape from = permuted(strides_of(args.in(0).shape), args.op.attrs.ints("perm"));
    return copy_parts<Device>(args, {{.box = make_box(y, strides_of(y), from)}});
  }
};

std::vector<Type> infer_transpose(const InferArgs& args) {
  const Var& x = args.in(0);
  const Ints& perm = args.op.attrs.ints("perm");
  check(is_permutation(perm, x.shape.size()), "transpose: perm is ", text_of(perm), ", input has ", x.shape.size(),
        " axes");
  return {{permuted(x.shape, perm), x.dtype}};
}

VarId swap_batch_and_time(LayerCall& c) {
  const std::size_t axes = c.shape().size();
  if (axes < 2) throw SettingError("time_major", message("an input ", text_of(c.shape()), " has no axis of time"));
  if (c.is_image(c.in())) throw SettingError("time_major", "an image has no axis of time; a sequence is \"plain\"");
  Ints perm = {1, 0};
  for (std::size_t axis = 2; axis < axes; ++axis) perm.push_back(static_cast<std::int64_t>(axis));
  return c.emit("transpose", {c.in()}, {{"perm", perm}});
}

/// The setting counts a sample's axes as network files do.
VarId build_transpose(LayerCall& c) {
  const std::size_t axes = c.shape().size();
  if (c.settings().flag("time_major") == c.settings().has("perm"))
    throw SettingError("perm", "'transpose' takes either 'perm' or 'time_major'");
  if (c.settings().flag("time_major")) return swap_batch_and_time(c);
  const Ints& perm = c.settings().ints("perm");
  if (axes == 0 || !is_permutation(perm, axes - 1))
    throw SettingError("perm", message("'perm' is ", shortened(text_of(perm)), counted_axes(c.sample_shape())));
  const Ints in_file = stated_axes(axes, c.is_image(c.in()) ? Layout::Image : Layout::Plain);
  Ints whole = {0};
  for (const std::int64_t axis : perm) whole.push_back(axis + 1);
  return c.emit("transpose", {c.in()}, {{"perm", permuted(permuted(in_file, whole), inverse(in_file))}});
}

const Register transpose{{
    .type = "transpose",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_transpose,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "transpose", {g.dy()}, {{"perm", inverse(g.attrs().ints("perm"))}});
        },
    .kernels = each_device<Transpose>(),
    .layer = {.name = "transpose",
              .aliases = {"Transpose"},
              .keys = {{.name = "perm",
                        .type = KeyType::IntList,
                        .min = 0,
                        .help = "axis of the input for each axis of the output, counted without the batch, [C, H, W]",
                        .optional = true},
                       {.name = "time_major",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "instead of perm: [N, T, ...] becomes [T, N, ...], and back"}},
              .build = build_transpose,
              .help = "the axes of a sample in another order"},
}};

}  // namespace
}  // namespace lethe
