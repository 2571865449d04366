#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> math_samples() {
  return {
      {.op = "relu", .in = {{{2, 3, 5}}}, .kinks = {0}},
  };
}

}  // namespace lethe::testing
