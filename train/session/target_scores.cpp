#include "train/session/target_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lethe {
namespace {

bool is_positive(double target) { return target > 0.5; }

/// Of logits. Ranks of equal ones are their mean, so the sum over positive samples counts each pair half.
std::optional<double> area_under_curve(std::span<const double> logits, std::span<const double> targets) {
  if (std::ranges::any_of(logits, [](double x) { return std::isnan(x); })) return std::nullopt;
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return logits[i]; });
  double ranks = 0, positive = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double own = 0;
    for (; end < order.size() && logits[order[end]] == logits[order[begin]]; ++end)
      own += is_positive(targets[order[end]]);
    ranks += own * static_cast<double>(begin + 1 + end) / 2;
    positive += own;
    begin = end;
  }
  const double negative = static_cast<double>(logits.size()) - positive;
  if (positive == 0 || negative == 0) return std::nullopt;
  return (ranks - positive * (positive + 1) / 2) / (positive * negative);
}

}  // namespace

TargetScore score_of_numbers(std::span<const double> predictions, std::span<const double> targets, double deviation) {
  const auto count = static_cast<double>(targets.size());
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / count;
  double squares = 0, spread = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    squares += (predictions[i] - targets[i]) * (predictions[i] - targets[i]);
    spread += (targets[i] - mean) * (targets[i] - mean);
  }
  TargetScore score{.rmse = deviation * std::sqrt(squares / count)};
  if (spread > 0) score.r2 = 1 - squares / spread;
  return score;
}

TargetScore score_of_chances(std::span<const double> predictions, std::span<const double> targets) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) right += (predictions[i] > 0) == is_positive(targets[i]);
  return {.accuracy = static_cast<double>(right) / static_cast<double>(targets.size()),
          .auc = area_under_curve(predictions, targets)};
}

TargetScore mean_of(std::span<const TargetScore> scores) {
  TargetScore mean;
  for (const auto field : {&TargetScore::rmse, &TargetScore::r2, &TargetScore::accuracy, &TargetScore::auc}) {
    double sum = 0, count = 0;
    for (const TargetScore& score : scores)
      if (score.*field) sum += *(score.*field), ++count;
    if (count > 0) mean.*field = sum / count;
  }
  return mean;
}

}  // namespace lethe
