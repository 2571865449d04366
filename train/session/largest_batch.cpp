#include "train/session/largest_batch.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"

namespace lethe {
namespace {

/// Where a line through two batches reaches the budget, strictly between them.
std::int64_t between(const FittingBatch& fits, const FittingBatch& too_large, std::int64_t budget) {
  const double share = static_cast<double>(budget - fits.bytes) / static_cast<double>(too_large.bytes - fits.bytes);
  const auto guess = fits.batch + static_cast<std::int64_t>(share * static_cast<double>(too_large.batch - fits.batch));
  return std::clamp(guess, fits.batch + 1, too_large.batch - 1);
}

/// The most there is where so many samples are more than the shapes or the libraries can count.
std::int64_t bytes_if_countable(const ProgramSetting& setting, const DeviceInfo& device) {
  try {
    Prepared prepared(device);
    return planned_bytes(setting, prepared);
  } catch (const Error&) {
    if (setting.network.batch == setting.shards.parts || setting.micro_batch == 1) throw;
    return std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace

std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared) {
  return plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared).bytes.total();
}

FittingBatch largest_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit) {
  setting.memory.levels.budget.reset();  // the least that the price allows, not the cheapest that fits
  const std::int64_t shards = setting.shards.parts;
  limit = (limit - 1) / shards + 1;  // from here on of a shard
  const auto tried = [&](std::int64_t shard) {
    setting.network.batch = shard * shards;
    return FittingBatch{shard, bytes_if_countable(setting, device)};
  };
  if (limit <= 1) return {};
  FittingBatch fits = {}, too_large = {};
  for (std::int64_t batch = 1; too_large.batch == 0; batch = std::min(2 * batch, limit - 1)) {
    const FittingBatch next = tried(batch);
    (next.bytes <= budget ? fits : too_large) = next;
    if (fits.batch == limit - 1) return {fits.batch * shards, fits.bytes};
  }
  // Bytes grow almost by a line; where they do not, halves are surer.
  for (int round = 0; too_large.batch - fits.batch > 1; ++round) {
    const bool halves = fits.batch == 0 || round % 3 == 2;
    const FittingBatch next =
        tried(halves ? fits.batch + (too_large.batch - fits.batch) / 2 : between(fits, too_large, budget));
    (next.bytes <= budget ? fits : too_large) = next;
  }
  return {fits.batch * shards, fits.bytes};
}

std::int64_t largest_micro_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget) {
  setting.memory.levels.budget.reset();
  const std::int64_t batch = setting.network.batch;
  for (std::int64_t parts = 1; parts <= std::min(batch, kMostParts); ++parts) {
    if (batch % parts != 0) continue;
    setting.micro_batch = batch / parts;
    if (bytes_if_countable(setting, device) <= budget) return setting.micro_batch;
  }
  return 0;
}

}  // namespace lethe
