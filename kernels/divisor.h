// Division by a number that is known beforehand: a GPU takes some twenty instructions for what is one multiplication
// and a shift (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
#pragma once
#include <cstdint>

#include "kernels/device_code.h"

namespace lethe {

/// Of numbers from 0; those below 2^31 are multiplied, others divided.
class Divisor {
 public:
  explicit Divisor(std::int64_t by = 1) : by_(by) {
    if (by >= std::int64_t{1} << 31) return;
    while ((std::int64_t{1} << shift_) < by) ++shift_;
    factor_ = static_cast<std::uint32_t>((std::uint64_t{1} << (31 + shift_)) / static_cast<std::uint64_t>(by) + 1);
  }
  HD std::int64_t by() const { return by_; }
  HD std::int64_t quotient(std::int64_t i) const {
    if (factor_ == 0 || i >> 31 != 0) return i / by_;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * factor_ >> (31 + shift_));
  }
  /// Of a number that is known to be small, without a branch.
  HD std::int32_t quotient(std::int32_t i) const {
    return static_cast<std::int32_t>(static_cast<std::uint64_t>(i) * factor_ >> (31 + shift_));
  }
  HD std::int64_t remainder(std::int64_t i) const { return i - quotient(i) * by_; }

 private:
  std::int64_t by_;
  std::uint32_t factor_ = 0, shift_ = 0;  // factor 0: too large for this
};

}  // namespace lethe
