// What a device really hands out for a network as Torch held it, by running it.
#pragma once
#include "framework/run/device.h"
#include "framework/run/prepared.h"
#include "train/optnet/optnet_plan.h"

namespace lethe {

/// Bytes taken from the device. What optnet counted, then what it did not.
struct TakenBytes {
  OptnetBytes held = {};        // each storage once
  std::int64_t kept_apart = 0;  // of `held`: what the rule would share, but not soundly
  std::int64_t fed = 0;         // the input and, in training, the gradient of the output
  std::int64_t scratch = 0;     // vars and workspaces of our kernels alone
  std::int64_t padding = 0;     // added by the device to align: in no other figure
  std::int64_t total() const { return held.total() + fed + scratch; }
};

struct Measured {
  TakenBytes taken = {};
  double seconds = 0;         // of one step
  std::uint64_t results = 0;  // a hash of the output and of every parameter's gradient
};

/// Takes the memory of the plan from the device and runs one step on made-up values, the same for equal names. What
/// the device handed out is what is reported; fails if that is not what the plan said.
Measured measure(const Network& network, const TorchProgram& torch, const OptnetPlan& planned, Prepared& prepared,
                 Device& device);

}  // namespace lethe
