#include "train/class_counts.h"

#include "train/logits.h"

namespace lethe {

ClassCounts::ClassCounts(std::int64_t classes, std::int64_t top)
    : top_(top), samples_(static_cast<std::size_t>(classes)), counts_(static_cast<std::size_t>(classes * classes)) {}

void ClassCounts::add(std::int64_t label, std::span<const double> logits) {
  found_ += rank_of(label, logits) < top_;
  if (label < 0 || label >= classes()) return;
  ++samples_[static_cast<std::size_t>(label)];
  for (const std::int64_t predicted : largest(logits, 1))
    ++counts_[static_cast<std::size_t>(label * classes() + predicted)];
}

}  // namespace lethe
