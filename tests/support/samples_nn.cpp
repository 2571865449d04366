#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> nn_samples() {
  return {
  };
}

}  // namespace lethe::testing
