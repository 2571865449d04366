// A small run to save and load: a convolution, a fully connected layer that reads an image, norm statistics, momentum.
#pragma once
#include <memory>
#include <string>

#include "framework/builder/builder.h"
#include "framework/run/store.h"
#include "kernels/cpu/device.h"
#include "train/session/run_state.h"

namespace lethe::testing {

struct SmallRun {
  SmallRun();
  /// Every element of every var becomes a number made of `step`, its var and its place.
  void fill(std::int64_t step);
  bool holds(std::int64_t step) const;
  RunState state(std::int64_t step) const;
  std::vector<float> floats(const std::string& name) const;

  std::unique_ptr<Device> device = open_cpu(1);
  Network network;
  Program program;  // with the optimizer's states
  Store store{*device};
};

}  // namespace lethe::testing
