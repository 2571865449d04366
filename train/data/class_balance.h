// Data whose classes are of unequal size: how many labels each has, what a label then counts in the loss, and an order
// in which all classes are drawn alike.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/data/samples.h"

namespace lethe {

/// What a label of each class counts in the loss (BuildOptions::class_weights).
struct ClassWeights {
  bool balanced = false;          // n / (classes * n_c), as scikit-learn has it, counted over the training data
  std::vector<double> each = {};  // or these, by label
  bool any() const { return balanced || !each.empty(); }
};
/// "none", "balanced", or a number for each class, at least 0 and not all 0: "1,2.5,1". Fails on anything else.
ClassWeights parse_class_weights(const std::string& text);
/// By class. Fails with Exit::Data if a class has no training label to balance by. Labels that are negative or
/// `ignored` are not counted.
std::vector<double> values_of(const ClassWeights& weights, const Samples& data, std::int64_t classes,
                              std::optional<std::int64_t> ignored);

/// The training samples of each class, for data with one label a sample.
class BalancedOrder {
 public:
  /// Fails where a sample has several labels, with Exit::Data on labels below 0.
  explicit BalancedOrder(const Samples& data);
  /// As many samples as `order` has room for, as torch's WeightedRandomSampler draws them with weights of 1 / n_c: with
  /// replacement, each class that has samples alike, and each sample of it. A function of (seed, epoch).
  void draw(std::uint64_t seed, std::int64_t epoch, std::vector<std::int32_t>& order) const;
  std::int64_t held_bytes() const;

 private:
  std::vector<std::vector<std::int32_t>> by_class_;  // without classes that have none
};

}  // namespace lethe
