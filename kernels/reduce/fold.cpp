#include "kernels/reduce/fold.h"

namespace lethe {
namespace {

/// Enough that neighbouring threads have neighbouring elements, and that none joins many; one where there are few rows.
std::int64_t lanes_of(std::int64_t length, std::int64_t inner) {
  constexpr std::int64_t kFewRows = 64, kMostRows = 256, kWorthRows = 8, kSideBySide = 64;
  if (length <= kFewRows) return 1;
  const std::int64_t side_by_side = std::min((kSideBySide + inner - 1) / inner, length / kWorthRows);
  return std::max(side_by_side, (length + kMostRows - 1) / kMostRows);
}

}  // namespace

std::vector<FoldPass> fold_passes(const Shape& shape, const Ints& axes) {
  std::vector<FoldPass> passes;
  for (const SumExtent& step : reduction_steps(shape, axes))
    for (std::int64_t length = step.middle; length > 1; length = passes.back().lanes)
      passes.push_back({step.outer, length, step.inner, lanes_of(length, step.inner)});
  if (passes.empty()) passes.push_back({.outer = elements(shape)});
  return passes;
}

Fold::Fold(const Shape& shape, const Ints& axes, std::int64_t held, WorkspaceLayout& layout)
    : passes_(fold_passes(shape, axes)) {
  // Each pass gives less than the one before.
  for (std::size_t pass = 0; pass + 1 < passes_.size(); ++pass) {
    const std::int64_t bytes = passes_[pass].outputs() * held;
    if (pass < 2) places_[pass] = layout.add(bytes);
    between_ += 2 * bytes;
  }
}

}  // namespace lethe
