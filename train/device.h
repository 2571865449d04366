// The device that --device names: one to run on, or for planning the description of one that is not there.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "framework/device.h"
#include "train/options.h"

namespace lethe {

/// Whether a command runs programs, and not only plans them.
bool runs(Command command);

/// Fails unless --device, --tf32 and --workspace-limit make sense together, and for a description if the command runs.
void check_device(const Options& options);

/// Opens it; fails with Exit::Device if it is not there.
std::unique_ptr<Device> open_device(const Options& options);

/// What kernels are prepared for; opens no GPU if it is one by description.
DeviceInfo device_info(const Options& options);

/// What cuDNN is told of a GPU, as JSON: of one by description, or of one that is there.
std::string gpu_description(const std::string& device);

/// Names of the GPUs that are described here.
std::vector<std::string> described_gpus();

}  // namespace lethe
