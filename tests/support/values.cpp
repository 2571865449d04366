#include "tests/support/values.h"

#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "kernels/low_floats.h"

namespace lethe::testing {
namespace {

template <class Body>
auto with_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f32:
      return body(float{});
    case DType::f64:
      return body(double{});
    case DType::bf16:
      return body(Bf16{});
    case DType::f16:
      return body(F16{});
    case DType::i32:
      return body(std::int32_t{});
    case DType::i64:
      return body(std::int64_t{});
    default:
      return body(std::uint8_t{});
  }
}

}  // namespace

double number_at(DType dtype, const void* data, std::int64_t i) {
  return with_type(dtype, [&](auto zero) { return static_cast<double>(static_cast<const decltype(zero)*>(data)[i]); });
}

void set_number(DType dtype, void* data, std::int64_t i, double value) {
  with_type(dtype, [&](auto zero) { static_cast<decltype(zero)*>(data)[i] = static_cast<decltype(zero)>(value); });
}

double most_error(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-12;
    case DType::f32:
      return 1e-5;
    case DType::bf16:
      return 1e-2;
    case DType::f16:
      return 2e-3;
    default:
      return 0;
  }
}

std::string difference(std::int64_t count, Values got, Values expected, double tolerance) {
  double scale = 1;
  for (std::int64_t i = 0; i < count; ++i)
    if (const double e = std::abs(number_at(expected.dtype, expected.data, i)); std::isfinite(e))
      scale = std::max(scale, e);
  const double most = is_float(got.dtype) ? tolerance * scale : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double g = number_at(got.dtype, got.data, i), e = number_at(expected.dtype, expected.data, i);
    if (g == e || std::abs(g - e) <= most || (std::isnan(g) && std::isnan(e))) continue;
    return message("element ", i, " is ", g, ", expected ", e, " within ", most);
  }
  return "";
}

}  // namespace lethe::testing
