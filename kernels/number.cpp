#include "kernels/number.h"

#include <limits>

#include "kernels/dtypes.h"
#include "kernels/each_device.h"

namespace lethe {

bool holds(DType dtype, double value) {
  return for_number(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::numeric_limits<T>::is_integer) {
      // The largest i64 rounds up to 2^63, which no longer fits.
      const auto least = static_cast<double>(std::numeric_limits<T>::min());
      const double most = static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
      return value >= least && value < most && value == static_cast<double>(static_cast<T>(value));
    } else {
      return true;
    }
  });
}

double nearest(DType dtype, double value) {
  return for_number(dtype, [&](auto zero) { return static_cast<double>(compute(static_cast<decltype(zero)>(value))); });
}

}  // namespace lethe
