#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> update_samples() {
  return {
  };
}

}  // namespace lethe::testing
