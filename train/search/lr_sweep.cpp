#include "train/search/lr_sweep.h"

#include <algorithm>
#include <cmath>

namespace lethe {
namespace {

constexpr double kMemory = 0.98, kDivergence = 4;

}  // namespace

double rate_of_sweep(std::int64_t step, std::int64_t steps, double least, double most) {
  return least * std::pow(most / least, static_cast<double>(step) / static_cast<double>(steps - 1));
}

void LrSweep::add(double lr, double loss) {
  if (!std::isfinite(loss)) {
    diverged_ = true;
    return;
  }
  // The weight of the newest loss, 1 - kMemory over the sum of all; in this form equal losses have that very mean.
  const double share = (1 - kMemory) / (1 - std::pow(kMemory, static_cast<double>(points_.size() + 1)));
  const double before = points_.empty() ? loss : points_.back().smoothed;
  const double smoothed = before + (loss - before) * share;
  least_ = points_.empty() ? smoothed : std::min(least_, smoothed);
  points_.push_back({.lr = lr, .loss = loss, .smoothed = smoothed});
  diverged_ = smoothed > kDivergence * least_;
}

std::optional<std::size_t> LrSweep::steepest() const {
  std::optional<std::size_t> found;
  double least = 0;
  for (std::size_t i = kSkippedFirst; i + kSkippedLast < points_.size(); ++i) {
    const double slope = points_[i + 1].smoothed - points_[i - 1].smoothed;
    if (slope >= least) continue;
    least = slope;
    found = i;
  }
  return found;
}

}  // namespace lethe
