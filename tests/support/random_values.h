// Numbers for operands.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace lethe::testing {

/// Between -1 and 1.
template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

}  // namespace lethe::testing
