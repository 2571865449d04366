// The largest batch that fits into memory, found by plans alone.
#pragma once
#include <cstdint>

#include "train/session/programs.h"

namespace lethe {

/// Bytes that a run would take, with what is evaluated between its steps; its kernels are those of `prepared`.
std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared);

/// Of batches below `limit` that the setting's shards divide, the largest that takes no more than `budget` bytes under
/// the setting; 0 if none does.
struct FittingBatch {
  std::int64_t batch = 0, bytes = 0;
};
/// Needs a setting without a micro-batch.
FittingBatch largest_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit);

/// Of what the batch can be cut into, the largest micro-batch under which the setting takes no more than `budget`; 0 if
/// none does.
std::int64_t largest_micro_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget);

}  // namespace lethe
