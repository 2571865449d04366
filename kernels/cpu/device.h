// The processor as a Device.
#pragma once
#include <memory>

#include "framework/run/device.h"

namespace lethe {

/// Memory aligned to 64 bytes and `threads` worker threads (0: one a processor), which flush denormals to zero. What
/// other devices do changes neither: each thread of the program that computes on one has workers of its own.
std::unique_ptr<Device> open_cpu(int threads, bool winograd = true, std::shared_ptr<Trials> trials = {},
                                 bool fast_f32 = false);

}  // namespace lethe
