// How long a kernel takes by itself.
#pragma once
#include "framework/run/device.h"
#include "framework/run/prepared.h"

namespace lethe {

/// Seconds of the fastest of a few runs of the op's kernel, on memory of its own, with inputs of zeros. `prepared` is
/// for the device. Fails if the device has no room.
double seconds_of_kernel(Device& device, Prepared& prepared, const Program& program, const Op& op);

}  // namespace lethe
