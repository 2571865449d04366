// What a network takes for what: labels counted by class over the evaluation data.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lethe {

class ClassCounts {
 public:
  /// A label counts as found if it is among the `top` largest logits. Only with `confusion` is there what each class
  /// was taken for. Fails with Exit::Device if there is no memory for that.
  ClassCounts(std::int64_t classes, std::int64_t top, bool confusion);
  /// The logits have one number for each class. With NaN among them the label counts, but nothing is predicted.
  void add(std::int64_t label, std::span<const double> logits);

  std::int64_t classes() const { return static_cast<std::int64_t>(samples_.size()); }
  std::int64_t top() const { return top_; }
  std::int64_t found() const { return found_; }
  /// Labels of a class, how many of them were taken for it, and how many for each of the classes.
  std::int64_t samples(std::int64_t label) const { return samples_[static_cast<std::size_t>(label)]; }
  std::int64_t correct(std::int64_t label) const { return correct_[static_cast<std::size_t>(label)]; }
  std::int64_t taken_for(std::int64_t label, std::int64_t predicted) const {
    return taken_for_[static_cast<std::size_t>(label * classes() + predicted)];
  }

 private:
  std::int64_t top_, found_ = 0;
  std::vector<std::int64_t> samples_, correct_;  // by label
  std::vector<std::int64_t> taken_for_;          // by label and predicted class
};

}  // namespace lethe
