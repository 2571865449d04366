// Where kernels race each other: memory of a device, and its clock.
#pragma once
#include <memory>

#include "framework/language/kernel.h"

namespace lethe {

class TimingDevice {
 public:
  virtual ~TimingDevice() = default;
  /// Of so many bytes, aligned, given back with its last owner; a float of any dtype in it is neither zero nor
  /// denormal. Fails with std::bad_alloc.
  virtual std::shared_ptr<void> memory(std::int64_t bytes) = 0;
  /// What a run takes; infinity if it fails.
  virtual double seconds(const Kernel& kernel, const KernelArgs& args) = 0;

 protected:
  static constexpr int kByte = 0x3F;  // repeated, a float between 1e-4 and 2
};

/// On a CPU with the device's threads; on a GPU, which must be opened, on its stream. While it lives, the calling
/// thread is as the device wants it.
std::unique_ptr<TimingDevice> timing_device_on(const DeviceInfo& device);
/// Defined if CUDA is built in.
std::unique_ptr<TimingDevice> timing_gpu(const DeviceInfo& device);

}  // namespace lethe
