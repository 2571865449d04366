#include "train/search/what_fits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr std::int64_t kUncountable = std::numeric_limits<std::int64_t>::max();

/// A number that was tried, and those of its bytes that do not grow with it.
struct Tried {
  LargestFit fit = {};
  std::int64_t stored = 0;
};

/// Plans a run. At level 3 of what the price allows it is the least, not the cheapest within a budget; its arena
/// is looked for no longer than within a budget.
Tried planned(ProgramSetting setting, const FitSearch& search, std::int64_t number) {
  MemoptOptions& levels = setting.memory.levels;
  levels.budget.reset();
  if (levels.level == Level::Recompute) levels.seconds /= 10;
  Prepared prepared(search.device);
  const Plans plans = plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared);
  Tried tried{.fit = {.number = number, .bytes = plans.bytes.total(), .least_feasible = plans.least_feasible()},
              .stored = plans.bytes.params + plans.bytes.states};
  tried.fit.fits = tried.fit.bytes <= search.budget;
  if (plans.training.recomputed) tried.fit.overhead = plans.training.recomputed->overhead;
  if (search.tried) search.tried(tried.fit);
  return tried;
}

/// The most there is where shapes or libraries cannot count so much; but of the least there is the error.
Tried planned_if_countable(const ProgramSetting& setting, const FitSearch& search, std::int64_t number, bool is_least) {
  try {
    return planned(setting, search, number);
  } catch (const Error&) {
    if (is_least) throw;
    return {.fit = {.number = number, .bytes = kUncountable, .least_feasible = kUncountable}};
  }
}

/// The first number with which `build` does not fail.
template <class Build>
std::int64_t least_built(const Build& build) {
  constexpr std::int64_t kMostTried = 16;
  for (std::int64_t number = 1; number < kMostTried; ++number) {
    try {
      build(number);
      return number;
    } catch (const Error&) {  // it takes more
    }
  }
  build(1);
  return 1;
}

/// The number at which a line through two, of which the second takes more, reaches the budget.
std::int64_t reached(const LargestFit& a, const LargestFit& b, std::int64_t budget) {
  constexpr double kMost = 1e15;
  const double share = static_cast<double>(budget - a.bytes) / static_cast<double>(b.bytes - a.bytes);
  return a.number + static_cast<std::int64_t>(std::min(share * static_cast<double>(b.number - a.number), kMost));
}

/// The largest number from `least` to below the search's limit whose bytes are within the budget.
template <class PlanOf>
LargestFit largest_within(const FitSearch& search, std::int64_t least, const PlanOf& plan_of) {
  constexpr std::int64_t kStart = 16, kGrowth = 16;  // the second: how far beyond what fits it looks next
  const std::int64_t last = search.limit - 1;
  if (last < least) return {};
  Tried first = plan_of(std::clamp(search.start.value_or(kStart), least, last));
  LargestFit below = {.number = least - 1, .bytes = first.stored}, fits = below, too_large = {};
  (first.fit.fits ? fits : too_large) = first.fit;
  // Bytes grow almost by a line; where they do not, halves are surer.
  for (int round = 0; fits.number < last && too_large.number != fits.number + 1; ++round) {
    std::int64_t next = kGrowth * fits.number;
    if (too_large.number == 0 && fits.bytes > below.bytes)
      next = std::min(next, reached(below, fits, search.budget));
    else if (too_large.number > 0)
      next =
          round % 3 == 2 ? fits.number + (too_large.number - fits.number) / 2 : reached(fits, too_large, search.budget);
    const LargestFit tried =
        plan_of(std::clamp(next, fits.number + 1, too_large.number > 0 ? too_large.number - 1 : last)).fit;
    if (tried.fits) below = fits;
    (tried.fits ? fits : too_large) = tried;
  }
  return fits.fits ? fits : too_large;
}

constexpr int kHighestStage = 3;
constexpr double kAlike = 1.001;  // what is sent differs by so much where only shares are rounded otherwise

ZeroStage stage_of(const ProgramSetting& setting, Prepared& prepared) {
  const Plans plans = plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared);
  return {setting.shards.zero, plans.bytes.total(), traffic_of(plans.training.program)};
}

}  // namespace

std::int64_t planned_bytes(const ProgramSetting& setting, Prepared& prepared) {
  return plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared).bytes.total();
}

std::int64_t least_batch(NetworkSetting setting, bool training, std::int64_t joint_parts) {
  return least_built([&](std::int64_t batch) {
    setting.batch = batch;
    build_network(setting, training, joint_parts);
  });
}

LargestFit largest_batch(ProgramSetting setting, const FitSearch& search) {
  const std::int64_t shards = setting.shards.parts;
  const std::int64_t least = least_batch(setting.network, setting.training, setting.network.sync_bn ? shards : 1);
  FitSearch of_shard = search;
  of_shard.limit = (search.limit - 1) / shards + 1;
  if (search.start) of_shard.start = *search.start / shards;
  if (search.tried)
    of_shard.tried = [&](LargestFit tried) {
      tried.number *= shards;
      search.tried(tried);
    };
  LargestFit fit = largest_within(of_shard, least, [&](std::int64_t samples) {
    setting.network.batch = samples * shards;
    return planned_if_countable(setting, of_shard, samples, samples == least);
  });
  fit.number *= shards;
  return fit;
}

LargestFit largest_context(ProgramSetting setting, const FitSearch& search) {
  const auto set = [&](std::int64_t length) { setting.network.sets[kContextVar] = std::to_string(length); };
  const std::int64_t least = least_built([&](std::int64_t length) {
    set(length);
    build_network(setting.network, setting.training);
  });
  return largest_within(search, least, [&](std::int64_t length) {
    set(length);
    return planned_if_countable(setting, search, length, length == least);
  });
}

LargestFit largest_micro_batch(ProgramSetting setting, const FitSearch& search) {
  const std::int64_t batch = setting.network.batch;
  const std::int64_t least = least_batch(setting.network, setting.training, setting.network.sync_bn ? batch : 1);
  LargestFit smallest;
  for (std::int64_t parts = 1; parts <= std::min(batch, kMostParts); ++parts) {
    const std::int64_t samples = batch / parts;
    if (batch % parts != 0 || samples < least) continue;
    setting.micro_batch = samples;
    smallest = planned_if_countable(setting, search, samples, samples == least).fit;
    if (smallest.fits) break;
  }
  return smallest;
}

std::vector<ZeroStage> stages_above(ProgramSetting setting, Prepared& prepared) {
  std::vector<ZeroStage> stages;
  if (setting.training && !takes_shares(setting.update.rule.type)) return stages;
  while (++setting.shards.zero <= kHighestStage) stages.push_back(stage_of(setting, prepared));
  return stages;
}

const ZeroStage* cheapest_that_fits(const std::vector<ZeroStage>& stages, std::int64_t budget,
                                    const std::optional<Link>& link) {
  const auto cost = [&](const ZeroStage& stage) {
    return link ? link->seconds_of(stage.sent) : static_cast<double>(stage.sent.bytes);
  };
  double least = std::numeric_limits<double>::infinity();
  for (const ZeroStage& stage : stages)
    if (stage.bytes <= budget) least = std::min(least, cost(stage));
  const auto found = std::ranges::find_if(
      stages, [&](const ZeroStage& stage) { return stage.bytes <= budget && cost(stage) <= kAlike * least; });
  return found == stages.end() ? nullptr : &*found;
}

std::string none_fits(const std::vector<ZeroStage>& stages, std::int64_t budget) {
  const ZeroStage smallest =
      *std::ranges::min_element(stages, {}, [](const ZeroStage& s) { return std::pair(s.bytes, s.zero); });
  return message("no stage of `zero` fits into ", budget, " bytes: the smallest, `zero` ", smallest.zero, ", takes ",
                 smallest.bytes);
}

int cheapest_stage(ProgramSetting setting, const DeviceInfo& device, const std::optional<Link>& link) {
  Prepared prepared(device);
  setting.shards.zero = 0;
  std::vector<ZeroStage> stages = {stage_of(setting, prepared)};
  for (const ZeroStage& stage : stages_above(setting, prepared)) stages.push_back(stage);
  const std::int64_t budget = budget_on(device, setting.memory.levels.budget);
  const ZeroStage* const cheapest = cheapest_that_fits(stages, budget, link);
  check_as(Exit::Budget, cheapest != nullptr, none_fits(stages, budget));
  return cheapest->zero;
}

}  // namespace lethe
