// A box of elements in two arrays at once, each with strides of its own. A broadcast operand has stride 0 along an
// axis, a transposed one its strides in another order, a slice those of the whole: one loop (for_each_pair.h) for all.
#pragma once
#include <optional>

#include "framework/language/strides.h"
#include "kernels/each_device.h"

namespace lethe {

inline constexpr int kMaxAxes = 6;

struct Offsets {
  std::int64_t first, second;
};

/// Strides count elements. Rows run along the last axis.
struct Box {
  int axes = 0;
  std::int64_t size[kMaxAxes] = {}, first[kMaxAxes] = {}, second[kMaxAxes] = {};

  HD std::int64_t count() const {
    std::int64_t n = 1;
    for (int axis = 0; axis < axes; ++axis) n *= size[axis];
    return n;
  }
  /// Whether both arrays are walked element by element, without a gap.
  bool is_one_run() const { return axes == 1 && first[0] == 1 && second[0] == 1; }
};

/// The box with axes of size 1 left out and neighbours joined that both arrays walk as one; it has at least one axis.
/// Fails for more axes than kMaxAxes.
Box make_box(const Shape& size, const Shape& first, const Shape& second);
/// The box in units of `pack` neighbouring elements, if both arrays walk its rows without a gap, and in whole units.
std::optional<Box> in_packs(Box box, int pack);

}  // namespace lethe
