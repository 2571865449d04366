// What the last three axes of a value are. Those of an image are stated as [C, H, W], as network files and PyTorch have
// them, and stand in memory as [H, W, C]; plain ones, as of a sequence of matrices, stand in memory as they are stated.
#pragma once
#include <string_view>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

enum class Layout : std::uint8_t { Image, Plain };

std::string_view name_of(Layout layout);  // "image"
/// "image" or "plain"; fails on another name.
Layout layout_named(std::string_view name);
const std::vector<std::string>& layout_names();

/// For each axis as it is stated, which one it is in memory: [0, 3, 1, 2] for an image of four axes.
Ints stated_axes(std::size_t rank, Layout layout);
/// A shape as it is stated to that in memory, and back.
Shape memory_shape(Shape stated, Layout layout);
Shape stated_shape(const Shape& in_memory, Layout layout);

}  // namespace lethe
