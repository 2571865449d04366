#include "train/session/largest_fit.h"

#include <algorithm>
#include <limits>

#include "framework/error.h"

namespace lethe {
namespace {

/// Where a line through two numbers reaches the budget, strictly between them.
std::int64_t between(const LargestFit& fits, const LargestFit& too_large, std::int64_t budget) {
  const double share = static_cast<double>(budget - fits.bytes) / static_cast<double>(too_large.bytes - fits.bytes);
  const auto guess =
      fits.number + static_cast<std::int64_t>(share * static_cast<double>(too_large.number - fits.number));
  return std::clamp(guess, fits.number + 1, too_large.number - 1);
}

/// The most there is where shapes or libraries cannot count so much; but of the least there is the error.
std::int64_t bytes_if_countable(const ProgramSetting& setting, const DeviceInfo& device, bool is_least) {
  try {
    Prepared prepared(device);
    return planned_bytes(setting, prepared);
  } catch (const Error&) {
    if (is_least) throw;
    return std::numeric_limits<std::int64_t>::max();
  }
}

/// Of numbers from 1 to below `limit` the largest whose bytes are within the budget.
template <class BytesOf>
LargestFit largest_within(std::int64_t budget, std::int64_t limit, const BytesOf& bytes_of) {
  if (limit <= 1) return {};
  LargestFit fits = {}, too_large = {};
  const auto try_with = [&](std::int64_t number) {
    const LargestFit next{number, bytes_of(number)};
    (next.bytes <= budget ? fits : too_large) = next;
  };
  for (std::int64_t number = 1; too_large.number == 0; number = std::min(2 * number, limit - 1)) {
    try_with(number);
    if (fits.number == limit - 1) return fits;
  }
  // Bytes grow almost by a line; where they do not, halves are surer.
  for (int round = 0; too_large.number - fits.number > 1; ++round) {
    const bool halves = fits.number == 0 || round % 3 == 2;
    try_with(halves ? fits.number + (too_large.number - fits.number) / 2 : between(fits, too_large, budget));
  }
  return fits;
}

}  // namespace

std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared) {
  return plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared).bytes.total();
}

LargestFit largest_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit) {
  setting.memory.levels.budget.reset();  // the least that the price allows, not the cheapest that fits
  const std::int64_t shards = setting.shards.parts;
  const LargestFit shard = largest_within(budget, (limit - 1) / shards + 1, [&](std::int64_t samples) {
    setting.network.batch = samples * shards;
    return bytes_if_countable(setting, device, samples == 1);
  });
  return {shard.number * shards, shard.bytes};
}

LargestFit largest_context(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget, std::int64_t limit) {
  setting.memory.levels.budget.reset();
  return largest_within(budget, limit, [&](std::int64_t length) {
    setting.network.sets[kContextVar] = std::to_string(length);
    return bytes_if_countable(setting, device, length == 1);
  });
}

std::int64_t largest_micro_batch(ProgramSetting setting, const DeviceInfo& device, std::int64_t budget) {
  setting.memory.levels.budget.reset();
  const std::int64_t batch = setting.network.batch;
  for (std::int64_t parts = 1; parts <= std::min(batch, kMostParts); ++parts) {
    if (batch % parts != 0) continue;
    setting.micro_batch = batch / parts;
    if (bytes_if_countable(setting, device, setting.micro_batch == 1) <= budget) return setting.micro_batch;
  }
  return 0;
}

}  // namespace lethe
