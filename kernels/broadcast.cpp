#include "kernels/broadcast.h"

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

std::vector<VarId> broadcast_second(const LayerCall& call) {
  const bool swap = elements(call.shape(0)) < elements(call.shape(1));
  return {call.in(swap), call.in(!swap)};
}

VarId aligned(LayerCall& call, VarId x, std::size_t rank, Layout layout) {
  const Shape& shape = call.var(x).shape;
  if (shape.empty() || shape.size() >= rank) return x;
  Shape stated = stated_shape(shape, call.is_image(x) ? Layout::Image : Layout::Plain);
  stated.insert(stated.begin() + 1, rank - shape.size(), 1);
  const Attrs attrs{{"shape", memory_shape(std::move(stated), layout)}};
  return call.lay_out(call.emit_part("aligned", kReshape, {x}, attrs), layout);
}

Attrs expansion(const Shape& from, const Shape& to) {
  Ints shape = to;
  for (std::size_t axis = 0; axis < from.size(); ++axis)
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
