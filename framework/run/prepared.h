// The kernels of a program, prepared for a device before planning. Kernels are kept by what they depend on (type,
// shapes, dtypes, attributes), so equal ops share one and passes may move or repeat ops.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "framework/language/core_ops.h"
#include "framework/language/kernel.h"
#include "framework/run/device.h"
#include "framework/run/plan.h"

namespace lethe {

/// Everything that an op's kernel may depend on, as text.
std::string kernel_signature(const Program& program, const Op& op);

class Prepared {
 public:
  /// Kernels to plan with.
  explicit Prepared(DeviceInfo device) : device_(std::move(device)) {}
  /// Kernels that run on the device, which must be there while they are prepared.
  explicit Prepared(Device& device) : device_(device.info()), runs_on_(&device) {}

  /// The op's kernel, prepared on first use; fails if the op has none for this device.
  const Kernel& kernel(const Program& program, const Op& op);
  /// 0 for an op that runs no kernel.
  std::int64_t workspace_bytes(const Program& program, const Op& op);
  const DeviceInfo& device() const { return device_; }
  /// Milliseconds that kernels have taken to prepare so far.
  double kernels_ms() const { return kernels_ms_; }

 private:
  DeviceInfo device_;
  Device* runs_on_ = nullptr;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  double kernels_ms_ = 0;
};

/// What the ops of a program need on the device that it is prepared for.
Workspaces workspaces_of(const Program& program, Prepared& prepared);

}  // namespace lethe
