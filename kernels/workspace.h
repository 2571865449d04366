// Parts of a workspace follow each other at aligned offsets.
#pragma once
#include <cstdint>

namespace lethe {

/// Rounded up to what every vector type needs; the workspace itself is aligned so.
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace lethe
