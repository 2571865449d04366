// A number as a sample has it.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/dtypes.h"

namespace lethe {

/// Writes the number as `dtype` has it. Gives false, and writes nothing, where that has none: of a float that is not
/// finite or too large, and as a whole number also of one that is none.
template <class From>
bool write_number(From value, DType dtype, std::byte* to) {
  return for_number(dtype, [&](auto zero) {
    using To = decltype(zero);
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
      if (!std::in_range<To>(value)) return false;
    } else if constexpr (std::is_integral_v<To>) {
      const From end = std::ldexp(From{1}, std::numeric_limits<To>::digits), least = std::is_signed_v<To> ? -end : 0;
      if (!(value >= least && value < end && std::trunc(value) == value)) return false;
    }
    const To number = [&] {
      if constexpr (std::is_integral_v<To>)
        return static_cast<To>(value);
      else
        return static_cast<To>(static_cast<Compute<To>>(value));
    }();
    if constexpr (!std::is_integral_v<To>)
      if (!std::isfinite(compute(number))) return false;
    std::memcpy(to, &number, sizeof number);
    return true;
  });
}

}  // namespace lethe
