#include "train/session/best_score.h"

#include "framework/error.h"

namespace lethe {
namespace {

double score_of(Best best, const Scores& scores) {
  switch (best) {
    case Best::Loss:
      return scores.loss;
    case Best::F1:
      return *scores.f1;
    case Best::Iou:
      return *scores.iou;
    default:
      return scores.accuracy();
  }
}

}  // namespace

Best best_of(const RunSetting& setting, const Network& network) {
  if (network.correct != kNone) return setting.best;
  check(!counts_classes(setting.best), "`best` ", name_of(setting.best), ": the loss of ", network.name,
        " has no labels, whose classes could be counted");
  return Best::Loss;
}

Scores scores_by(Best best, Evaluator& evaluator, const Network& network) {
  if (!counts_classes(best)) return evaluator.run();
  ClassCounts counts(network.classes, 1, false);
  Scores scores = evaluator.run(&counts);
  const ClassScores means = counts.macro();
  if (best == Best::F1)
    scores.f1 = means.f1;
  else
    scores.iou = means.iou;
  return scores;
}

bool note_scores(Best best, const Scores& scores, RunState& state) {
  const double score = score_of(best, scores), before = state.best_score;
  const bool better = before == kNotEvaluated || (best == Best::Loss ? score < before : score > before);
  state.evaluations_since_best = better ? 0 : state.evaluations_since_best + 1;
  if (better) state.best_score = score, state.best_step = state.step;
  return better;
}

std::string better_than(Best best, double score) {
  const char* const names[] = {"better accuracy", "lower loss", "better F1", "better IoU"};
  return message(names[static_cast<int>(best)], " than ", score);
}

}  // namespace lethe
