// Where kernels race each other: memory of a device, and its clock.
#pragma once
#include <memory>

#include "framework/language/kernel.h"

namespace lethe {

/// A device on which kernels run to be timed.
class TimingDevice {
 public:
  virtual ~TimingDevice() = default;
  /// Gives so many bytes, aligned, which are freed with their last owner; a float of any dtype in them is neither zero
  /// nor denormal. Fails with std::bad_alloc.
  virtual std::shared_ptr<void> memory(std::int64_t bytes) = 0;
  /// Runs the kernel and gives the seconds that it takes; infinity if it fails.
  virtual double seconds(const Kernel& kernel, const KernelArgs& args) = 0;

 protected:
  static constexpr int kByte = 0x3F;  // repeated, a float between 1e-4 and 2
};

/// On a CPU with the device's threads; on a GPU, which must be opened, on its stream. While it lives, the calling
/// thread is as the device wants it.
std::unique_ptr<TimingDevice> timing_device_on(const DeviceInfo& device);
/// The same on a GPU; defined if CUDA is built in.
std::unique_ptr<TimingDevice> timing_gpu(const DeviceInfo& device);

}  // namespace lethe
