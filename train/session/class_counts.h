// Labels counted by class, and what is made of such counts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "framework/ranks/peers.h"

namespace lethe {

/// The share that `part` is of `all`; 0 if there is nothing.
inline double share_of(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// Of a class: which share of what was taken for it is, which share of it was found, the harmonic mean of both, and the
/// share that what is both has of what is either. 0 where there is nothing to divide by, as with scikit-learn's
/// zero_division=0.
struct ClassScores {
  double precision = 0, recall = 0, f1 = 0, iou = 0;
};

/// Counts labels by class, and what the network takes them for.
class ClassCounts {
 public:
  /// A label counts as found if it is among the `top` largest logits. Only with `confusion` is there what each class
  /// was taken for. Fails with Exit::Device if there is no memory for that.
  ClassCounts(std::int64_t classes, std::int64_t top, bool confusion);
  /// The logits have one number for each class. With NaN among them the label counts, but nothing is predicted.
  void add(std::int64_t label, std::span<const double> logits);
  /// Adds what the other ranks have counted; the confusion stays this one's.
  void sum_over(Peers& peers);

  std::int64_t classes() const { return static_cast<std::int64_t>(samples_.size()); }
  std::int64_t top() const { return top_; }
  std::int64_t found() const { return found_; }
  /// Labels of a class, how many of them were taken for it, how many labels of any class were, and how many for each of
  /// the classes.
  std::int64_t samples(std::int64_t label) const { return samples_[static_cast<std::size_t>(label)]; }
  std::int64_t correct(std::int64_t label) const { return correct_[static_cast<std::size_t>(label)]; }
  std::int64_t predicted(std::int64_t label) const { return predicted_[static_cast<std::size_t>(label)]; }
  std::int64_t taken_for(std::int64_t label, std::int64_t predicted) const {
    return taken_for_[static_cast<std::size_t>(label * classes() + predicted)];
  }
  ClassScores of(std::int64_t label) const;
  /// The mean over the classes that there are labels of or that labels were taken for: scikit-learn's "macro".
  ClassScores macro() const;

 private:
  std::int64_t top_, found_ = 0;
  std::vector<std::int64_t> samples_, correct_, predicted_;  // by label
  std::vector<std::int64_t> taken_for_;                      // by label and predicted class
};

}  // namespace lethe
