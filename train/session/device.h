// The device that is named: one to run on, or for planning the description of one that is not there.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/run/device.h"
#include "train/session/settings.h"

namespace lethe {

/// Fails unless name and settings make sense together, and for a description if programs are to run on it.
void check_device(const DeviceSetting& setting, bool runs);

/// Opens it; fails with Exit::Device if it is not there.
std::unique_ptr<Device> open_device(const DeviceSetting& setting);

/// Describes the device that kernels are prepared for; opens no GPU if it is one by description.
DeviceInfo device_info(const DeviceSetting& setting);

/// Whether it is a GPU, there or by description.
bool is_gpu(const DeviceSetting& setting);
/// Whether it is a GPU by description, which is not opened.
bool is_described(const std::string& device);

/// Gives what cuDNN is told of a GPU, as JSON: one that is there, or one by description, with so many bytes of memory
/// if they are given.
std::string gpu_description(const std::string& device, const std::optional<std::int64_t>& memory = {});

/// Which GPU and cuDNN it computes with, or which instructions of a CPU: ranks that differ in it would not give the
/// same bits.
std::string what_computes(const DeviceSetting& setting);

/// The best that a GPU does in a second.
struct Peaks {
  double f64 = 0, f32 = 0, tf32 = 0, low = 0;  // floating-point operations, by the dtype; low: bf16 and f16
  double bytes = 0;                            // that a copy reads and writes
  double flops(DType dtype, bool rounds_to_tf32) const;
};
/// Looks a GPU up by its name; none if it is not known here.
std::optional<Peaks> peaks_of(const std::string& gpu);

/// Names of the GPUs that are described here.
std::vector<std::string> described_gpus();

}  // namespace lethe
