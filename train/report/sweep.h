// What `train plan --sweep` finds out: bytes over what computing again takes, from all kept to the least there is.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "train/session/programs.h"

namespace lethe {

struct MemorySweep {
  std::string title = {};                                        // "resnet50, training, batch 64, f32"
  std::vector<PricedBytes> points = {};                          // `bytes` with what evaluation needs beside training
  std::vector<std::pair<std::string, std::int64_t>> marks = {};  // other settings: bytes
};

/// Plans training and takes no memory of a device. Fails unless the setting trains.
MemorySweep sweep_of(const ProgramSetting& setting, const DeviceInfo& device);

std::string sweep_text(const MemorySweep& sweep);
std::string sweep_json(const MemorySweep& sweep);
/// A picture that stands alone.
std::string sweep_svg(const MemorySweep& sweep);

}  // namespace lethe
