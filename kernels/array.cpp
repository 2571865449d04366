#include "kernels/array.h"

#include "framework/builder/layer_call.h"
#include "framework/error.h"

namespace lethe {

Shape entry_shape(const InferArgs& args, int first) {
  const Var& array = args.in(0);
  const int given = static_cast<int>(args.op.in.size()), indices = given - first,
            axes = static_cast<int>(array.shape.size());
  check(indices <= axes, args.op.type, ": number of indices is ", indices, ", array is ", text_of(array));
  check(indices <= kMaxIndices, args.op.type, ": number of indices is ", indices, ", expected at most ", kMaxIndices);
  for (int slot = first; slot < given; ++slot)
    check(args.in(slot).shape.empty() && args.in(slot).dtype == DType::i64, args.op.type, ": index ", slot - first,
          " is ", text_of(args.in(slot)), ", expected an i64 scalar");
  return {array.shape.begin() + indices, array.shape.end()};
}

std::vector<Type> infer_entry_update(const InferArgs& args) {
  const Var &array = args.in(0), &value = args.in(1);
  const Shape entry = entry_shape(args, 2);
  check(value.shape == entry && value.dtype == array.dtype, args.op.type, ": value is ", text_of(value),
        ", an entry of the array is ", name_of(array.dtype), text_of(entry));
  return same_as_first(args);
}

VarId build_entry_op(LayerCall& call, const std::string& type) {
  std::vector<VarId> in;
  for (int slot = 0; slot < call.inputs(); ++slot) in.push_back(call.in(slot));
  return call.emit(type, in);
}

EntryPlace entry_place(const Shape& array, int indices) {
  EntryPlace place{.indices = indices};
  for (int axis = 0; axis < indices; ++axis) place.size[axis] = array[static_cast<std::size_t>(axis)];
  place.elements = elements({array.begin() + indices, array.end()});
  return place;
}

}  // namespace lethe
