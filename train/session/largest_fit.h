// The largest batch, micro-batch and context that fit into memory, found by plans alone.
#pragma once
#include <cstdint>

#include "train/session/programs.h"

namespace lethe {

/// Bytes that a run would take, with what is evaluated between its steps; its kernels are those of `prepared`.
std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared);

/// A number that was looked for, 0 if none fits, and what a run takes with it.
struct LargestFit {
  std::int64_t number = 0, bytes = 0;
};

/// Of batches below `limit` that the setting's shards divide, the largest that takes no more than `budget` bytes under
/// the setting. Needs a setting without a micro-batch.
LargestFit largest_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit);

/// The same of values below `limit` of the network's var `length`. Fails unless the network's file has it.
LargestFit largest_context(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit);

/// Of what the batch can be cut into, the largest micro-batch under which the setting takes no more than `budget`; 0 if
/// none does.
std::int64_t largest_micro_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget);

}  // namespace lethe
