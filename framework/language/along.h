// Whether an op works position by position.
#pragma once
#include <cstdint>

namespace lethe {

/// What an op's outputs at one place of an axis that they keep are made of. So it is said whether the places can be
/// computed one after the other.
enum class Along : std::uint8_t {
  Mixed,     // anything; not said
  Elements,  // what all inputs have at that place: a map, or a reduction along other axes
  Rows       // what input 0 has there, for any axis but the last, and all of the other inputs
};

}  // namespace lethe
