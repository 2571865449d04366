// How a workspace is divided: its parts follow each other at aligned offsets.
#pragma once
#include "framework/kernel.h"

namespace lethe {

/// Rounded up to what every vector type needs; the workspace itself is aligned so.
constexpr std::int64_t aligned(std::int64_t bytes) { return round_up(bytes, 64); }

}  // namespace lethe
