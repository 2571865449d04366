// Networks with each nesting of loops and branches, for tests that go through them all.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "framework/builder/builder.h"

namespace lethe::testing {

struct LoopNetwork {
  std::string name;  // as of a test
  std::function<Network(DType)> build;
};
const std::vector<LoopNetwork>& loop_networks();

/// An LSTM over `trips` inputs, as a loop or written out; both have the same parameters by name.
Network lstm(std::int64_t trips, bool unrolled, DType dtype, bool recompute = false);

}  // namespace lethe::testing
