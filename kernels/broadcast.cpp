#include "kernels/broadcast.h"

#include <algorithm>
#include <utility>

#include "framework/builder/layer_call.h"

namespace lethe {

Type broadcast_type(const InferArgs& args) {
  const Var &a = args.in(0), &b = args.in(1);
  check(a.dtype == b.dtype, args.op.type, ": operands are ", name_of(a.dtype), " and ", name_of(b.dtype));
  bool fits = b.shape.empty() || b.shape.size() == a.shape.size();
  for (std::size_t axis = 0; fits && axis < b.shape.size(); ++axis)
    fits = b.shape[axis] == a.shape[axis] || b.shape[axis] == 1;
  check(fits, args.op.type, ": shapes ", text_of(a.shape), " and ", text_of(b.shape),
        " do not fit; the second is as the first, a scalar, or 1 along some axes");
  return {a.shape, a.dtype};
}

std::vector<Type> same_as_broadcast(const InferArgs& args) { return {broadcast_type(args)}; }

void set_second(GradBuilder& g, VarId factor) {
  const Shape& b = g.var(g.x(1)).shape;
  const bool same = b == g.var(g.y()).shape;
  if (same && factor == kNone)
    g.set(1, g.dy());
  else if (same)
    g.set(1, "mul", {g.dy(), factor});
  else
    g.set(1, "sum_to", factor == kNone ? std::vector<VarId>{g.dy()} : std::vector<VarId>{g.dy(), factor},
          {{"shape", b}});
}

void set_second(GradBuilder& g, const std::string& type, std::vector<VarId> in, Attrs attrs) {
  if (!g.wants(1)) return;
  const Shape b = g.var(g.x(1)).shape;
  if (b == g.var(g.y()).shape)
    g.set(1, type, std::move(in), std::move(attrs));
  else
    g.set(1, "sum_to", {g.call(type, std::move(in), std::move(attrs), g.x(1))}, {{"shape", b}});
}

VarId aligned(LayerCall& call, VarId x, std::size_t rank, Layout layout) {
  const Shape& shape = call.var(x).shape;
  if (shape.empty() || shape.size() >= rank) return x;
  Shape stated = stated_shape(shape, call.is_image(x) ? Layout::Image : Layout::Plain);
  stated.insert(stated.begin() + 1, rank - shape.size(), 1);
  const Attrs attrs{{"shape", memory_shape(std::move(stated), layout)}};
  return call.lay_out(call.emit_part("aligned", kReshape, {x}, attrs), layout);
}

std::optional<Shape> common_shape(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  if (a.size() != b.size()) return std::nullopt;
  Shape common = a;
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (a[axis] == 1) common[axis] = b[axis];
    if (b[axis] != common[axis] && b[axis] != 1) return std::nullopt;
  }
  return common;
}

VarId in_shape(LayerCall& call, VarId x, const Shape& shape, Layout layout, const std::string& as) {
  const Shape& own = call.var(x).shape;
  return own == shape ? x : call.lay_out(call.emit_part(as, "expand", {x}, expansion(own, shape)), layout);
}

VarId emit_pair(LayerCall& call, const std::string& type, VarId a, VarId b, Commutes commutes, Attrs attrs) {
  const Layout layout = call.is_image(a) || call.is_image(b) ? Layout::Image : Layout::Plain;
  const std::size_t rank = std::max(call.var(a).shape.size(), call.var(b).shape.size());
  a = aligned(call, a, rank, layout);
  b = aligned(call, b, rank, layout);
  if (const auto shape = common_shape(call.var(a).shape, call.var(b).shape)) {  // else the op says what does not fit
    if (commutes == Commutes::Yes && call.var(a).shape != *shape && call.var(b).shape == *shape) std::swap(a, b);
    a = in_shape(call, a, *shape, layout, "expanded");
  }
  return call.emit(type, {a, b}, std::move(attrs));
}

VarId emit_pairs(LayerCall& call, const std::string& type, Commutes commutes) {
  VarId all = call.in(0);
  for (int slot = 1; slot < call.inputs(); ++slot) all = emit_pair(call, type, all, call.in(slot), commutes);
  return all;
}

Attrs expansion(const Shape& from, const Shape& to) {
  Ints shape = to;
  for (std::size_t axis = 0; axis < from.size() && axis < to.size(); ++axis)  // of other ranks the op says so
    if (from[axis] == to[axis]) shape[axis] = -1;
  return {{"shape", std::move(shape)}};
}

Box broadcast_box(const Shape& shape, const Shape& broadcast) {
  Shape strides(shape.size(), 0);
  if (!broadcast.empty()) {
    strides = strides_of(broadcast);
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (broadcast[axis] == 1) strides[axis] = 0;
  }
  return make_box(shape, strides_of(shape), strides);
}

}  // namespace lethe
