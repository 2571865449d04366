#include "tests/support/samples.h"

namespace lethe::testing {

std::vector<Sample> all_samples() {
  std::vector<Sample> all;
  for (const auto& part : {math_samples(), unary_samples(), norm_samples(), nn_samples(), product_samples(),
                           update_samples(), array_samples()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lethe::testing
