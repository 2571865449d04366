#include "framework/language/block_formats.h"

#include <algorithm>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr std::int64_t kScaleBytes = 4, kHalfBytes = 2;  // bytes of f32 and f16
constexpr std::int64_t kMapBytes = 256 * kScaleBytes;    // of what codes of 8 bits mean

std::int64_t row_elements(const Shape& shape) {
  return shape.empty() || shape[0] == 0 ? 1 : std::max<std::int64_t>(elements(shape) / shape[0], 1);
}

}  // namespace

BlockFormat block_format(DType dtype, const Shape& shape) {
  switch (dtype) {
    case DType::int8: {
      const std::int64_t row = row_elements(shape);
      return {.elements = row, .bytes = (row + 3) / 4 * 4 + kScaleBytes};
    }
    case DType::q8_0:
      return {.elements = kGgufBlock, .bytes = kHalfBytes + kGgufBlock};
    case DType::q4_0:
      return {.elements = kGgufBlock, .bytes = kHalfBytes + kGgufBlock / 2};
    case DType::q4_1:
      return {.elements = kGgufBlock, .bytes = 2 * kHalfBytes + kGgufBlock / 2};
    case DType::nf4:
      return {.elements = kNf4Block, .bytes = kScaleBytes + kNf4Block / 2};
    case DType::nf4_dq:
      return {.elements = kNf4Block * kNf4Blocks,
              .bytes = kScaleBytes + kNf4Blocks + kNf4Block * kNf4Blocks / 2,
              .header = kScaleBytes + kMapBytes};
    case DType::dynamic8:
    case DType::udynamic8:
      return {.elements = kDynamicBlock, .bytes = kScaleBytes + kDynamicBlock};
    default:
      return {.elements = 1, .bytes = bytes_of(dtype)};
  }
}

std::int64_t bytes_of(DType dtype, const Shape& shape) {
  const std::int64_t count = elements(shape);
  if (!is_in_blocks(dtype)) return count * bytes_of(dtype);
  const BlockFormat format = block_format(dtype, shape);
  return format.header + format.blocks(count) * format.bytes;
}

std::string complaint_about_blocks(DType dtype, const Shape& shape) {
  const bool by_rows = dtype == DType::int8 || dtype == DType::q8_0 || dtype == DType::q4_0 || dtype == DType::q4_1;
  if (!by_rows) return "";
  if (shape.size() < 2) return message(name_of(dtype), " is for matrices, not for ", text_of(shape));
  if (const std::int64_t row = row_elements(shape); dtype != DType::int8 && row % kGgufBlock != 0)
    return message(name_of(dtype), " takes rows of a multiple of ", kGgufBlock, ", not of ", row);
  return "";
}

}  // namespace lethe
