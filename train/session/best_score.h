// Which evaluation of a run is its best.
#pragma once
#include <string>

#include "framework/builder/network.h"
#include "train/session/evaluator.h"
#include "train/session/run_setting.h"
#include "train/session/run_state.h"

namespace lethe {

/// By what runs of this setting choose the best of the network: by its loss where that has no labels. Fails on a
/// measure of classes then.
Best best_of(const RunSetting& setting, const Network& network);
/// An evaluation, with what runs of this setting choose the best by. `network` is the evaluator's.
Scores scores_by(Best best, Evaluator& evaluator, const Network& network);
/// Counts the evaluation of the state's step, and gives whether it is the best so far.
bool note_scores(Best best, const Scores& scores, RunState& state);
/// "better accuracy than 0.5".
std::string better_than(Best best, double score);

}  // namespace lethe
