// The commands of the program `train`, by name.
#pragma once
#include <cstdint>

namespace lethe {

enum class Command : std::uint8_t {
  Train,
  Eval,
  Predict,
  Generate,
  LrFind,
  Show,
  Export,
  Plan,
  Bench,
  Graph,
  Timeline,
  Tokenize,
  Pack,
  Schema,
  Count,
  Tables,
  Device,
  Completion,
  Man
};

}  // namespace lethe
