#include "train/session/class_counts.h"

#include <algorithm>

#include "framework/host_memory.h"
#include "train/session/logits.h"

namespace lethe {

ClassCounts::ClassCounts(std::int64_t classes, std::int64_t top, bool confusion)
    : top_(top), samples_(static_cast<std::size_t>(classes)), correct_(samples_.size()) {
  if (!confusion) return;
  const std::int64_t cells = classes * classes;
  taking(message("the confusion of ", classes, " classes"), cells * std::int64_t{sizeof taken_for_[0]},
         [&] { taken_for_.resize(static_cast<std::size_t>(cells)); });
}

void ClassCounts::add(std::int64_t label, std::span<const double> logits) {
  found_ += rank_of(label, logits) < std::min(top_, classes());  // of no class, or beside NaN, it is beyond all
  if (label < 0 || label >= classes()) return;
  ++samples_[static_cast<std::size_t>(label)];
  for (const std::int64_t predicted : largest(logits, 1)) {
    correct_[static_cast<std::size_t>(label)] += predicted == label;
    if (!taken_for_.empty()) ++taken_for_[static_cast<std::size_t>(label * classes() + predicted)];
  }
}

}  // namespace lethe
