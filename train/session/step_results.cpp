#include "train/session/step_results.h"

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "framework/error.h"

namespace lethe {
namespace {

/// The vars that are read after each step.
std::vector<VarId> results_of(const Programs& programs) {
  std::vector<VarId> results = {programs.network.loss};
  if (programs.network.correct != kNone) results.push_back(programs.network.correct);
  if (programs.loss_scale.state != kNone) results.push_back(programs.loss_scale.state);
  return results;
}

/// Steps skipped so far.
std::int64_t skipped_before(const Executor& executor, const LossScale& scale) {
  LossScaleState state;
  if (scale.state != kNone) executor.fetch(scale.state, &state, sizeof state);
  return state.skipped;
}

/// Names remedies for a loss that is no number, which the run has not taken yet.
std::string remedies(const RunSetting& setting, const Programs& programs) {
  std::vector<std::string> all = {"a smaller `lr`", slower_start(setting)};
  if (!programs.clips) all.push_back("`clip_norm` 1");
  if (programs.loss_scale.state != kNone) all.push_back("`dtype` bf16, whose range is that of f32");
  const std::string last = all.back();
  all.pop_back();
  return joined(all) + " or " + last;
}

}  // namespace

StepResults::StepResults(const Executor& executor, const Programs& programs, const RunSetting& setting)
    : programs_(programs),
      setting_(setting),
      results_(executor, results_of(programs)),
      skipped_(skipped_before(executor, programs.loss_scale)) {}

void StepResults::fetch(std::int64_t number, double rate, const Notify& notify) {
  results_.fetch();
  const VarId scale = programs_.loss_scale.state;
  if (scale != kNone) note_overflow(results_.values<LossScaleState>(scale).front(), number, notify);
  check_loss(loss(), "the loss", number, rate);
}

std::int64_t StepResults::correct() const {
  if (programs_.network.correct == kNone) return 0;
  const auto correct = results_.values<std::uint8_t>(programs_.network.correct);
  return std::accumulate(correct.begin(), correct.end(), std::int64_t{0});
}

void StepResults::check_loss(double loss, const char* whose, std::int64_t number, double rate) const {
  if (std::isfinite(loss)) return;
  fail_as(Exit::Numeric, whose, " is ", std::isnan(loss) ? "not a number" : "infinite", " at step ", number,
          " with a learning rate of ", rate, "; try ", remedies(setting_, programs_));
}

void StepResults::note_overflow(const LossScaleState& state, std::int64_t number, const Notify& notify) {
  if (state.skipped == skipped_) return;
  skipped_ = state.skipped;
  const double scale = state.scale(programs_.first_loss_scale);
  check_as(Exit::Numeric, scale >= 1, "gradients overflow in f16 at step ", number, " even with a loss scale of ",
           2 * scale, "; try `dtype` bf16 or a smaller `lr`");
  notify(message("step ", number, ": gradients overflow in f16, the step is skipped (", state.skipped,
                 " so far); the loss scale is now ", scale));
}

}  // namespace lethe
