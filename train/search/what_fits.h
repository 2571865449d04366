// What fits into memory, found by plans alone: the largest batch, micro-batch and context, the cheapest stage of ZeRO.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/ranks/traffic.h"
#include "train/session/programs.h"

namespace lethe {

/// The share of a step that `auto` lets computing again take where no --overhead says otherwise.
inline constexpr double kOverheadOfAuto = 0.1;

/// Bytes that a run would take, with what is evaluated between its steps; its kernels are those of `prepared`.
std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared);

/// A number that was looked for and what a run takes with it. If none fits, the least with which the network can be
/// built; 0 if that is not below the limit.
struct LargestFit {
  std::int64_t number = 0, bytes = 0;
  bool fits = false;
  double overhead = 0;              // what computing again takes of a step
  std::int64_t least_feasible = 0;  // bytes at any price, at level 3; else `bytes`
};

/// A search: where it looks, and whom it tells of each number that it has tried.
struct FitSearch {
  DeviceInfo device = {};
  std::int64_t budget = 0;  // bytes
  std::int64_t limit = 0;   // numbers are below it
  std::function<void(const LargestFit&)> tried = {};
  std::optional<std::int64_t> start = {};  // where it begins: the closer, the shorter
};

/// The least batch, or part of one in `joint_parts`, with which the network can be built: batch norm needs two values a
/// channel. Fails as the network does if that is none of the first few.
std::int64_t least_batch(NetworkSetting setting, bool training, std::int64_t joint_parts = 1);

/// The largest batch that the setting's shards divide and that takes no more than the budget under the setting, at
/// level 3 within its overhead. There bytes do not quite grow with the batch, so one more may not fit though some more
/// do. Needs a setting without a micro-batch.
LargestFit largest_batch(ProgramSetting setting, const FitSearch& search);

/// Where the search for a batch begins at level 3, when that of level 2 is known: from there on all find the same.
inline std::int64_t start_at_level3(const LargestFit& at_level2) { return 2 * at_level2.number; }

/// The same of values of the network's var `length`. Fails unless the network's file has it.
LargestFit largest_context(ProgramSetting setting, const FitSearch& search);

/// The same of micro-batches that the batch can be cut into.
LargestFit largest_micro_batch(ProgramSetting setting, const FitSearch& search);

/// A stage: bytes that training takes of each rank, and what a rank sends in a step.
struct ZeroStage {
  int zero = 0;
  std::int64_t bytes = 0;
  Traffic sent = {};
};

/// The stages above that of the setting. Kernels are those of `prepared`.
std::vector<ZeroStage> stages_above(ProgramSetting setting, Prepared& prepared);

/// The stage that takes no more than `budget` bytes and whose sending takes the least time on the link, or without one
/// that sends the fewest bytes; among equals, but for rounding, the lowest. The stages ascend. Null if none
/// fits.
const ZeroStage* cheapest_that_fits(const std::vector<ZeroStage>& stages, std::int64_t budget,
                                    const std::optional<Link>& link);
/// "no stage of `zero` fits into 1048576 bytes: the smallest, `zero` 3, takes 2097152".
std::string none_fits(const std::vector<ZeroStage>& stages, std::int64_t budget);

/// The cheapest of all four stages within the setting's budget and the device's memory. Fails with
/// Exit::Budget if none fits.
int cheapest_stage(ProgramSetting setting, const DeviceInfo& device, const std::optional<Link>& link);

}  // namespace lethe
