#include "train/session/run_setting.h"

#include <limits>
#include <string_view>
#include <utility>

#include "framework/error.h"

namespace lethe {

namespace {

constexpr std::pair<std::string_view, Best> kMeasures[] = {
    {"acc", Best::Accuracy}, {"loss", Best::Loss}, {"f1", Best::F1}, {"iou", Best::Iou}};

}  // namespace

Best best_named(const std::string& name) {
  for (const auto& [word, best] : kMeasures)
    if (word == name) return best;
  fail("`best` ", name, ": expected acc, loss, f1 or iou");
}

std::string name_of(Best best) {
  for (const auto& [word, known] : kMeasures)
    if (known == best) return std::string(word);
  fail_as(Exit::Internal, "a measure without a name");
}

RunLength length_of(const RunSetting& setting, std::int64_t steps_per_epoch) {
  if (setting.steps) return {.total = *setting.steps, .per_epoch = steps_per_epoch};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  check(setting.epochs <= kMost / steps_per_epoch, "`epochs`: ", setting.epochs, " epochs of ", steps_per_epoch,
        " steps are more than ", kMost, " steps");
  return {.total = setting.epochs * steps_per_epoch, .per_epoch = steps_per_epoch};
}

std::string slower_start(const RunSetting& setting) {
  const Schedule& schedule = setting.schedule;
  if (schedule.warmup.digits > 0) return "a longer warm-up";
  if (schedule.kind != Schedule::OneCycle)
    return message("a warm-up (`schedule` ", setting.schedule_text, "+warmup@500)");
  return schedule == parse_schedule("one-cycle") ? "a longer rise (`schedule` one-cycle@40%)" : "a longer rise";
}

}  // namespace lethe
