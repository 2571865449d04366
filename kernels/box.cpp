#include "kernels/box.h"

#include "framework/error.h"

namespace lethe {

Box make_box(const Shape& size, const Shape& first, const Shape& second) {
  Box box;
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    if (size[axis] == 1) continue;
    const int last = box.axes - 1;
    const bool joins =
        last >= 0 && box.first[last] == first[axis] * size[axis] && box.second[last] == second[axis] * size[axis];
    check(joins || box.axes < kMaxAxes, "shape ", text_of(size), " has too many axes; at most ", kMaxAxes);
    const int to = joins ? last : box.axes++;
    box.size[to] = joins ? box.size[to] * size[axis] : size[axis];
    box.first[to] = first[axis];
    box.second[to] = second[axis];
  }
  if (box.axes == 0) {
    box.axes = 1;
    box.size[0] = box.first[0] = box.second[0] = 1;
  }
  return box;
}

std::optional<Box> in_packs(Box box, int pack) {
  const int last = box.axes - 1;
  bool whole = box.first[last] == 1 && box.second[last] == 1 && box.size[last] % pack == 0;
  box.size[last] /= pack;
  for (int axis = 0; axis < last; ++axis) {
    whole = whole && box.first[axis] % pack == 0 && box.second[axis] % pack == 0;
    box.first[axis] /= pack;
    box.second[axis] /= pack;
  }
  return whole ? std::optional(box) : std::nullopt;
}

}  // namespace lethe
