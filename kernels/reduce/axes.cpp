#include "kernels/reduce/axes.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "framework/builder/settings.h"
#include "framework/error.h"

namespace lethe {
namespace {

std::int64_t product(const Shape& shape, std::int64_t first, std::int64_t last) {
  return std::accumulate(shape.begin() + first, shape.begin() + last, std::int64_t{1}, std::multiplies<>());
}

}  // namespace

std::vector<Key> reduction_keys() {
  return {{.name = "axis", .type = KeyType::Axis, .help = "one axis; without it: all, the batch too", .optional = true},
          {.name = "axes",
           .type = KeyType::IntList,
           .min = 0,
           .help = "instead: several, counted without the batch, [C, H, W]",
           .optional = true},
          {.name = "keep", .type = KeyType::Bool, .absent = false, .help = "keep the axes, with size 1"}};
}

Attrs reduction_attrs(const LayerCall& call) {
  Attrs attrs{{"keep_dims", call.settings().flag("keep")}};
  if (call.settings().has("axis")) attrs.set("axes", Ints{call.axis("axis")});
  if (!call.settings().has("axes")) return attrs;
  if (call.settings().has("axis")) throw SettingError("axes", "either 'axis' or 'axes' says what is reduced, not both");
  Ints axes = call.axes("axes");
  std::sort(axes.begin(), axes.end());
  if (axes.empty()) throw SettingError("axes", "'axes' names no axis; without it all are reduced");
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    throw SettingError("axes", message("an axis stands twice in ", text_of(call.settings().ints("axes"))));
  attrs.set("axes", axes);
  return attrs;
}

std::vector<SumExtent> reduction_steps(const Shape& shape, const Ints& axes) {
  std::vector<SumExtent> steps;
  Shape left = shape;
  for (std::size_t end = axes.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && axes[begin - 1] + 1 == axes[begin]) --begin;
    const std::int64_t first = axes[begin], last = axes[end - 1];
    steps.push_back({product(left, 0, first), product(left, first, last + 1),
                     product(left, last + 1, static_cast<std::int64_t>(left.size()))});
    std::fill(left.begin() + first, left.begin() + last + 1, 1);
    end = begin;
  }
  if (steps.empty()) steps.push_back({});  // a scalar
  return steps;
}

Ints reduced_axes(const Op& op, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  Ints axes = op.attrs.ints("axes", {});
  if (axes.empty()) {
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  std::sort(axes.begin(), axes.end());
  check(std::adjacent_find(axes.begin(), axes.end()) == axes.end(), op.type, ": an axis stands twice in ",
        text_of(Attr(axes)));
  for (const std::int64_t axis : axes)
    check(axis >= 0 && axis < rank, op.type, ": no axis ", axis, " in ", text_of(shape));
  return axes;
}

std::vector<Type> infer_reduction(const InferArgs& args) {
  const Var& x = args.in(0);
  const Ints axes = reduced_axes(args.op, x.shape);
  const bool keep = args.op.attrs.flag("keep_dims", false);
  Shape shape;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)))
      shape.push_back(x.shape[axis]);
    else if (keep)
      shape.push_back(1);
  return {{shape, x.dtype}};
}

std::vector<Type> infer_reduction_grad(const InferArgs& args) {
  return {{args.op.attrs.ints("shape"), args.in(0).dtype}};
}

Attrs reduction_grad_attrs(const Attrs& attrs, const Shape& shape) {
  Attrs with_shape = attrs;
  with_shape.set("shape", shape);
  return with_shape;
}

Box reduction_box(const Shape& shape, const Ints& axes) {
  Shape reduced = shape;
  for (const std::int64_t axis : axes) reduced[static_cast<std::size_t>(axis)] = 1;
  Shape places = strides_of(reduced);
  for (const std::int64_t axis : axes) places[static_cast<std::size_t>(axis)] = 0;
  return make_box(shape, strides_of(shape), places);
}

std::int64_t reduced_count(const Shape& shape, const Ints& axes) {
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) count *= shape[static_cast<std::size_t>(axis)];
  return count;
}

}  // namespace lethe
