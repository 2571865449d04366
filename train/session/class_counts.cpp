#include "train/session/class_counts.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/host_memory.h"
#include "train/session/logits.h"

namespace lethe {

ClassCounts::ClassCounts(std::int64_t classes, std::int64_t top, bool confusion)
    : top_(top), samples_(static_cast<std::size_t>(classes)), correct_(samples_.size()), predicted_(samples_.size()) {
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
    ++predicted_[static_cast<std::size_t>(predicted)];
    correct_[static_cast<std::size_t>(label)] += predicted == label;
    if (!taken_for_.empty()) ++taken_for_[static_cast<std::size_t>(label * classes() + predicted)];
  }
}

void ClassCounts::sum_over(Peers& peers) {
  const std::size_t each = 3 * samples_.size() + 1, ranks = static_cast<std::size_t>(peers.rank().of);
  std::vector<std::int64_t> all(each * ranks);
  auto to = all.begin() + static_cast<std::ptrdiff_t>(each) * peers.rank().number;
  for (const auto* counts : {&samples_, &correct_, &predicted_}) to = std::copy(counts->begin(), counts->end(), to);
  *to = found_;
  peers.gather(all.data(), static_cast<std::int64_t>(each * sizeof all[0]));
  for (std::size_t i = each; i < all.size(); ++i) all[i % each] += all[i];
  auto from = all.cbegin();
  for (auto* counts : {&samples_, &correct_, &predicted_})
    for (std::int64_t& count : *counts) count = *from++;
  found_ = *from;
}

ClassScores ClassCounts::of(std::int64_t label) const {
  const std::int64_t right = correct(label), either = samples(label) + predicted(label);
  return {.precision = share_of(right, predicted(label)),
          .recall = share_of(right, samples(label)),
          .f1 = share_of(2 * right, either),
          .iou = share_of(right, either - right)};
}

ClassScores ClassCounts::macro() const {
  ClassScores sum;
  std::int64_t present = 0;
  for (std::int64_t label = 0; label < classes(); ++label) {
    if (samples(label) + predicted(label) == 0) continue;
    const ClassScores own = of(label);
    sum.precision += own.precision, sum.recall += own.recall, sum.f1 += own.f1, sum.iou += own.iou;
    ++present;
  }
  const double count = static_cast<double>(std::max<std::int64_t>(present, 1));
  return {
      .precision = sum.precision / count, .recall = sum.recall / count, .f1 = sum.f1 / count, .iou = sum.iou / count};
}

}  // namespace lethe
