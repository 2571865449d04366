#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> product_samples() {
  return {
  };
}

}  // namespace lethe::testing
