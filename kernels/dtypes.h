// From a DType, known when a kernel is prepared, to the C++ type that its template is instantiated for.
#pragma once
#include <cstdint>

#include "framework/error.h"
#include "framework/language/program.h"
#include "kernels/low_floats.h"

namespace lethe {

/// Calls `body` with a value of the C++ type: `for_wide(dtype, [&](auto zero) { using T = decltype(zero); ... })`, for
/// f32 and f64: parameters, statistics, losses.
template <class Body>
auto for_wide(DType dtype, const Body& body) {
  if (dtype == DType::f64) return body(double{});
  check(dtype == DType::f32, "no kernel for dtype ", name_of(dtype));
  return body(float{});
}
/// Likewise for f32, f64, bf16 and f16.
template <class Body>
auto for_float(DType dtype, const Body& body) {
  if (dtype == DType::bf16) return body(Bf16{});
  if (dtype == DType::f16) return body(F16{});
  return for_wide(dtype, body);
}
/// Likewise for all dtypes.
template <class Body>
auto for_number(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::i32:
      return body(std::int32_t{});
    case DType::i64:
      return body(std::int64_t{});
    case DType::u8:
      return body(std::uint8_t{});
    default:
      return for_float(dtype, body);
  }
}

/// Calls `body` with an unsigned value as wide as the dtype: what moves elements need not know what they mean.
template <class Body>
auto for_width(DType dtype, const Body& body) {
  switch (bytes_of(dtype)) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

/// The dtypes that an op computes in, as an argument of templates.
struct Floats {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    return for_float(dtype, body);
  }
};
struct Numbers {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    return for_number(dtype, body);
  }
};
/// Truth values: u8, 0 or not 0.
struct Flags {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    check(dtype == DType::u8, "no kernel for dtype ", name_of(dtype));
    return body(std::uint8_t{});
  }
};

}  // namespace lethe
