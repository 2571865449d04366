// The largest batch that fits into memory, found by plans alone.
#pragma once
#include <cstdint>

#include "train/session/programs.h"

namespace lethe {

/// Bytes that a run would take, with what is evaluated between its steps.
std::int64_t planned_bytes(const ProgramSetting& setting, const DeviceInfo& device);

/// Of batches below `limit`, the largest that takes no more than `budget` bytes under the setting; 0 if none does.
struct FittingBatch {
  std::int64_t batch = 0, bytes = 0;
};
FittingBatch largest_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit);

}  // namespace lethe
