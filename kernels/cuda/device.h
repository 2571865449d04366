// A GPU as a Device.
#pragma once
#include <memory>

#include "framework/run/device.h"

namespace lethe {

/// Whether CUDA is built in.
bool has_cuda();

/// GPU `index`, which the calling thread turns to, with what `settings` say of how kernels may compute. What is
/// reserved is one cudaMalloc; copies and kernels follow each other on one stream. Fails with Exit::Device and why if
/// there is no such GPU, no driver or too old a one.
std::unique_ptr<Device> open_gpu(int index, DeviceInfo settings);

/// How many there are; fails with Exit::Device and why if there is none.
int gpu_count();

/// GPU `index` as JSON, as `DeviceInfo::properties` takes it; fails like open_gpu.
std::string gpu_properties(int index);

/// "9.12.0"; fails with Exit::Device if cuDNN is not there.
std::string cudnn_version();

}  // namespace lethe
