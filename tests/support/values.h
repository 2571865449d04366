// Host memory seen as numbers, and compared.
#pragma once
#include <cstdint>
#include <string>

#include "framework/language/program.h"

namespace lethe::testing {

/// Element `i` as a number, and back.
double number_at(DType dtype, const void* data, std::int64_t i);
void set_number(DType dtype, void* data, std::int64_t i, double value);

/// What a result may differ from what is exact, of its norm.
double most_error(DType dtype);

/// Values of one var in host memory.
struct Values {
  DType dtype;
  const void* data;
};

/// "" if each of `count` elements of `got` is within tolerance * max(1, largest magnitude expected) of `expected`, or
/// both are NaN; else the first that is not, with both values. Whole numbers must be equal.
std::string difference(std::int64_t count, Values got, Values expected, double tolerance);

}  // namespace lethe::testing
