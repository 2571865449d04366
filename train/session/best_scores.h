// Which evaluation of a run is the best: that of the most accuracy, or of the smallest loss where no loss takes labels.
#pragma once
#include <string>

#include "framework/error.h"
#include "train/session/evaluator.h"
#include "train/session/run_state.h"

namespace lethe {

/// Whether these scores, of the step where the run stands, are better than all before; then they are its best.
inline bool take_if_best(RunState& state, const Scores& scores, bool of_labels) {
  const bool better = of_labels ? scores.accuracy() > state.best_accuracy : scores.loss < state.best_loss;
  const bool best = state.best_accuracy < 0 || better;
  state.evaluations_since_best = best ? 0 : state.evaluations_since_best + 1;
  if (!best) return false;
  state.best_accuracy = scores.accuracy();
  state.best_loss = scores.loss;
  state.best_step = state.step;
  return true;
}

/// "better accuracy than 0.9", "smaller loss than 0.3".
inline std::string better_than_best(const RunState& state, bool of_labels) {
  return of_labels ? message("better accuracy than ", state.best_accuracy)
                   : message("smaller loss than ", state.best_loss);
}

}  // namespace lethe
