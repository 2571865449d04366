// What an op takes, by rule of thumb: for plans of devices that are not there, and as long as nothing was measured.
#pragma once
#include <functional>
#include <string>

#include "framework/language/device_info.h"
#include "framework/language/program.h"

namespace lethe {

/// Seconds that an op takes.
using SecondsOf = std::function<double(const Program&, const Op&)>;

/// What ops are weighed by, and what that is called.
struct OpCosts {
  SecondsOf seconds_of = {};
  std::string name = {};
};

/// The longer of its multiply-adds and of the bytes that it reads and writes. Only their relation matters: a device
/// does about a dozen floating-point operations in the time in which it moves a byte.
SecondsOf seconds_on(const DeviceInfo& device);

}  // namespace lethe
