#include "train/search/zero_stages.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "framework/error.h"

namespace lethe {
namespace {

constexpr int kHighest = 3;
constexpr double kAlike = 1.001;  // what is sent differs by so much where only shares are rounded otherwise

ZeroStage stage_of(const ProgramSetting& setting, Prepared& prepared) {
  const Plans plans = plan_programs(build_programs(setting), setting.evaluated, setting.memory, prepared);
  return {setting.shards.zero, plans.bytes.total(), traffic_of(plans.training.program)};
}

}  // namespace

std::vector<ZeroStage> stages_above(ProgramSetting setting, Prepared& prepared) {
  std::vector<ZeroStage> stages;
  while (++setting.shards.zero <= kHighest) stages.push_back(stage_of(setting, prepared));
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
