// How the elements of a var lie in memory: row by row, the last axis innermost, rows `Var::pitch` elements apart.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Elements of a row, along the last axis; of a scalar 1.
std::int64_t row_of(const Shape& shape);
/// Elements from a row to the next.
std::int64_t row_step(const Var& var);
/// By axis: elements from an index to the next, rows `pitch` apart (0: without a gap).
Shape strides_of(const Shape& shape, std::int64_t pitch = 0);
/// Bytes of a row; of numbers in blocks, which have no gaps, of all.
std::int64_t row_bytes(const Var& var);
/// Bytes from the first element to after the last.
std::int64_t span_of(const Var& var);

}  // namespace lethe
