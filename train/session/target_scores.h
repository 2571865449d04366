// How well a network meets targets that are no labels, number by number of a target.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lethe {

/// Of numbers the root of the mean square error, and the share of the variance that is explained; of chances the share
/// of samples that are on the right side of 1/2, and the area under the ROC curve. What is not defined is none: r2
/// where all targets are the same, auc where all are on one side.
struct TargetScore {
  std::string name = {};
  std::optional<double> rmse = {}, r2 = {};
  std::optional<double> accuracy = {}, auc = {};
};

/// rmse = deviation * sqrt(mean (x - t)^2), r2 = 1 - sum (x - t)^2 / sum (t - mean t)^2. `deviation` is what a target's
/// unit is of the data's own.
TargetScore score_of_numbers(std::span<const double> predictions, std::span<const double> targets, double deviation);

/// The predictions are logits. auc is the chance that a positive sample has a larger one than a negative sample, half
/// where both are equal.
TargetScore score_of_chances(std::span<const double> predictions, std::span<const double> targets);

/// The mean of each score over those targets that have one, without a name.
TargetScore mean_of(std::span<const TargetScore> scores);

}  // namespace lethe
