// Which stage of ZeRO (Shards::zero) is the cheapest that fits into memory, found by plans alone.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "framework/ranks/traffic.h"
#include "train/session/programs.h"

namespace lethe {

/// What training takes of each rank in a stage, and sends in a step.
struct ZeroStage {
  int zero = 0;
  std::int64_t bytes = 0;
  Traffic sent = {};
};

/// The stages above that of the setting. Kernels are those of `prepared`.
std::vector<ZeroStage> stages_above(ProgramSetting setting, Prepared& prepared);

/// Of the stages that take no more than `budget` bytes the one whose sending takes the least time on the link, or
/// without one that sends the fewest bytes; among equals, but for rounding, the lowest. The stages ascend. Null if none
/// fits.
const ZeroStage* cheapest_that_fits(const std::vector<ZeroStage>& stages, std::int64_t budget,
                                    const std::optional<Link>& link);
/// "no stage of --zero fits into 1048576 bytes: the smallest, --zero 3, takes 2097152".
std::string none_fits(const std::vector<ZeroStage>& stages, std::int64_t budget);

/// That of all four stages which is the cheapest within the setting's budget and the device's memory. Fails with
/// Exit::Budget if none fits.
int cheapest_stage(ProgramSetting setting, const DeviceInfo& device, const std::optional<Link>& link);

}  // namespace lethe
