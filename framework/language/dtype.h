// What the elements of a var are.
#pragma once
#include <cstdint>
#include <string_view>

namespace lethe {

/// Floats, whole numbers, and from int8 on numbers in blocks (framework/language/block_formats.h).
// clang-format off
enum class DType : std::uint8_t {
  f32, f64, bf16, f16,
  i32, i64, u8,
  int8, q8_0, q4_0, q4_1, nf4, nf4_dq, dynamic8, udynamic8,
};
// clang-format on

std::int64_t bytes_of(DType dtype);  // of one element; fails for numbers in blocks
bool is_float(DType dtype);
bool is_in_blocks(DType dtype);
DType wide_of(DType dtype);  // f32 for bf16, f16 and blocks: of parameters, statistics and losses beside such values

std::string_view name_of(DType dtype);     // "f32", "nf4-dq"
DType dtype_named(std::string_view name);  // fails on an unknown name

}  // namespace lethe
