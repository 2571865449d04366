// The course of a training run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "optimizer/schedule.h"

namespace lethe {

/// How often something happens: every `count` steps or epochs; 0 is never.
struct Interval {
  std::int64_t count = 0;
  bool epochs = false;
  bool operator==(const Interval&) const = default;
};

/// By what of an evaluation the best checkpoint is chosen. F1 and IoU are means over classes (class_counts.h), which an
/// evaluation counts where its plan keeps the prediction (MemorySetting::keeps_prediction).
enum class Best : std::uint8_t { Accuracy, Loss, F1, Iou };
Best best_named(const std::string& name);  // acc, loss, f1 or iou
std::string name_of(Best best);
inline bool counts_classes(Best best) { return best == Best::F1 || best == Best::Iou; }

struct RunSetting {
  double lr = 0.01;
  std::string schedule_text = "constant";  // as it was written
  Schedule schedule = {};
  std::optional<std::int64_t> steps = {};  // of the whole run; else `epochs`
  std::int64_t epochs = 10;
  Best best = Best::Accuracy;
  std::int64_t patience = 0;  // evaluations without a better one, then training stops; 0: never
  Interval save_every = {1, true}, eval_every = {1, true};
  int log_every = 0;  // steps between records; 0: about a second
};

/// How many steps an epoch and the run have; fails for a run of more steps than can be counted.
RunLength length_of(const RunSetting& setting, std::int64_t steps_per_epoch);
/// Words for a message: what makes the rate rise more slowly, with the setting if that is new to the run.
std::string slower_start(const RunSetting& setting);

}  // namespace lethe
