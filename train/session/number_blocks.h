// Values of weights on the host, from one dtype to another: floats, and numbers in blocks.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Whether blocks of tensors one above the other, of which this is one, are those of the whole: none is of two.
bool blocks_join(DType dtype, const Shape& part);
/// Why blocks are no numbers: a scale that is not finite, or below 0 where it is a magnitude; "" if they are.
std::string complaint_about_values(const std::vector<std::byte>& blocks, DType dtype, const Shape& shape);
/// The values of a tensor of that shape in another dtype, rounded once, or by the format's rule into blocks. Fails
/// (Exit::Data) for floats that are too large, and for those that cannot be quantised.
std::vector<std::byte> converted(std::vector<std::byte> values, DType from, DType to, const Shape& shape);

}  // namespace lethe
