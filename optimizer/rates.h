// The rates of an update, which lie in device memory since they change from step to step.
#pragma once
#include "framework/language/kernel.h"
#include "framework/language/op_def.h"
#include "kernels/device_code.h"

namespace lethe {

/// Attribute of an update: what its learning rate is multiplied by. Absent: 1.
inline constexpr const char* kRateScale = "rate_scale";

/// What a rule reads beside its element. A grad_scale of 0 skips the step: nothing changes.
template <class T>
struct Rates {
  T learning_rate, grad_scale;
};

/// Where they lie.
template <class T>
struct ReadRates {
  const T* learning_rate;
  const T* grad_scale;  // null: gradients are taken as they are
  T rate_scale = 1;
  HD Rates<T> operator()() const { return {*learning_rate * rate_scale, grad_scale ? *grad_scale : T(1)}; }
};

/// How a rule gets its rates, from the inputs that begin at slot `first`: as they are.
template <class T>
struct GivenRates {
  static constexpr int kInputs = 2;  // learning_rate, grad_scale?
  static constexpr std::int64_t kWorkspace = 0;
  bool scaled;
  T rate_scale;
  GivenRates(const Attrs& attrs, bool scaled)
      : scaled(scaled), rate_scale(static_cast<T>(attrs.number(kRateScale, 1))) {}
  bool operator==(const GivenRates&) const = default;
  template <class Device>
  ReadRates<T> read(Device, const KernelArgs& a, int first) const {
    return {a.in<T>(first), scaled ? a.in<T>(first + 1) : nullptr, rate_scale};
  }
};

}  // namespace lethe
