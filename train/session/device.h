// The device that is named: one to run on, or for planning the description of one that is not there.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "framework/device.h"
#include "train/session/settings.h"

namespace lethe {

/// Fails unless name and settings make sense together, and for a description if programs are to run on it.
void check_device(const DeviceSetting& setting, bool runs);

/// Opens it; fails with Exit::Device if it is not there.
std::unique_ptr<Device> open_device(const DeviceSetting& setting);

/// What kernels are prepared for; opens no GPU if it is one by description.
DeviceInfo device_info(const DeviceSetting& setting);

/// What cuDNN is told of a GPU, as JSON: of one by description, or of one that is there.
std::string gpu_description(const std::string& device);

/// Names of the GPUs that are described here.
std::vector<std::string> described_gpus();

}  // namespace lethe
