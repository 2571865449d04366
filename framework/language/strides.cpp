#include "framework/language/strides.h"

namespace lethe {

std::int64_t row_of(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }

std::int64_t row_step(const Var& var) { return var.pitch > 0 ? var.pitch : row_of(var.shape); }

Shape strides_of(const Shape& shape, std::int64_t pitch) {
  Shape strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * (axis + 1 == shape.size() && pitch > 0 ? pitch : shape[axis]);
  return strides;
}

std::int64_t row_bytes(const Var& var) {
  return is_in_blocks(var.dtype) ? bytes_of(var) : row_of(var.shape) * bytes_of(var.dtype);
}

std::int64_t span_of(const Var& var) {
  const std::int64_t row = row_of(var.shape);
  return var.pitch == 0 ? bytes_of(var) : ((elements(var.shape) / row - 1) * var.pitch + row) * bytes_of(var.dtype);
}

}  // namespace lethe
