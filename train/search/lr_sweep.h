// The loss while the learning rate grows (Smith, "Cyclical Learning Rates for Training Neural Networks", 2017), and the
// rate that it suggests, by the rules of fastai's and PyTorch Lightning's finders.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace lethe {

struct SweptRate {
  double lr = 0;
  double loss = 0;      // of the step that was made with the rate
  double smoothed = 0;  // mean of the losses so far, those before weighing 0.98 times as much each, without bias to 0
};

/// Points that a suggestion leaves out: at the begin the mean is of few losses, at the end one side is missing.
inline constexpr std::int64_t kSkippedFirst = 10, kSkippedLast = 1;
inline constexpr std::int64_t kFewestSweptSteps = kSkippedFirst + kSkippedLast + 1;

/// The rate of step `step` of `steps`, from `least` at step 0 to `most` at the last, each larger by the same factor.
double rate_of_sweep(std::int64_t step, std::int64_t steps, double least, double most);

class LrSweep {
 public:
  /// Takes the loss of the next step. One that is no number ends the sweep and is no point of it.
  void add(double lr, double loss);
  /// Whether the loss was no number or its smoothed course went above 4 times its least.
  bool diverged() const { return diverged_; }
  const std::vector<SweptRate>& points() const { return points_; }
  /// The point at which the smoothed loss falls steepest over the logarithm of the rate, by central differences; none
  /// if it falls nowhere or there are too few points.
  std::optional<std::size_t> steepest() const;

 private:
  std::vector<SweptRate> points_;
  double least_ = 0;  // of the smoothed losses
  bool diverged_ = false;
};

}  // namespace lethe
