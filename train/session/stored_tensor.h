// A var, and how it stands in a file: under its own name or others, in which layout, as one tensor or a few.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/language/layer.h"
#include "framework/language/program.h"
#include "train/session/safetensors.h"

namespace lethe {

struct StoredTensor {
  Var var;
  FileLayout layout = {};
  std::vector<std::string> names = {};  // of its tensors
  Shape shape = {};                     // of all rows, where it is not the layout's; else empty
  Ints rows = {};                       // of each tensor; empty for one
  bool transposed = false;              // each tensor, of matrices
  Ints interleaved = {};                // heads of each tensor, 0 for none (ForeignWeight); empty for none of any
};

/// Its tensors as they are written.
std::vector<TensorEntry> tensors_of(const StoredTensor& stored);
/// The var's value, as in memory, to that of its tensors.
std::vector<std::vector<std::byte>> to_file(const StoredTensor& stored, std::vector<std::byte> value);
/// And back; the tensors are in the var's dtype.
std::vector<std::byte> to_memory(const StoredTensor& stored, std::vector<std::vector<std::byte>> tensors);

enum class Infinite { Allowed, Refused };
struct NoNumber {
  std::int64_t at;  // of the values
  double value;
};
/// The first that is NaN or, if such are refused, infinite, or whose block has such a scale (dynamic8, udynamic8);
/// values of other dtypes are all numbers.
std::optional<NoNumber> no_number_in(const std::vector<std::byte>& values, DType dtype, Infinite infinite);
/// Floats in another float type, rounded once. Fails (Exit::Data) if one is too large for it.
std::vector<std::byte> converted(std::vector<std::byte> data, DType from, DType to);

}  // namespace lethe
