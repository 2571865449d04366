// One pass of a reduction by a step that joins two values (fold.h), both devices.
#pragma once
#include <algorithm>

#include "kernels/each_device.h"
#include "kernels/reduce/joins.h"

namespace lethe {

/// [outer, length, inner] becomes [outer, lanes, inner]: lane l joins rows l, l + lanes, l + 2 * lanes... So
/// neighbouring outputs read neighbouring elements even where `inner` is 1.
struct FoldPass {
  std::int64_t outer = 1, length = 1, inner = 1, lanes = 1;
  HD std::int64_t width() const { return lanes * inner; }
  HD std::int64_t plane() const { return length * inner; }
  std::int64_t outputs() const { return outer * width(); }
};

template <class Join, class Term, class From, class To>
struct FoldIndex {
  using A = typename Join::template Held<From>;
  static constexpr std::int64_t kColumns = 256;  // outputs that the CPU computes together
  FoldPass pass;
  const From* x;
  To* y;

  HD A term(std::int64_t at) const { return static_cast<A>(Term{}(compute(x[at]))); }
  /// Output i, on its own.
  HD void operator()(std::int64_t i) const {
    const std::int64_t outer = i / pass.width(), first = outer * pass.plane(), end = first + pass.plane();
    A held = Join::template nothing<A>();
    for (std::int64_t at = first + i - outer * pass.width(); at < end; at += pass.width())
      held = Join::join(held, term(at));
    y[i] = static_cast<To>(held);
  }
  /// Outputs [column, column + n) of one outer index, in step: the same values in the same order.
  void columns(std::int64_t outer, std::int64_t column, std::int64_t n) const {
    const std::int64_t first = outer * pass.plane(), end = first + pass.plane();
    A held[kColumns];
    std::fill_n(held, n, Join::template nothing<A>());
    for (std::int64_t at = first + column; at < end; at += pass.width())
      for (std::int64_t j = 0, here = std::min(n, end - at); j < here; ++j) held[j] = Join::join(held[j], term(at + j));
    for (std::int64_t j = 0; j < n; ++j) y[outer * pass.width() + column + j] = static_cast<To>(held[j]);
  }
};

template <class Join, class Term, class From, class To>
void fold_pass(Cpu, void*, const FoldPass& pass, const From* x, To* y) {
  const FoldIndex<Join, Term, From, To> fold{pass, x, y};
  const std::int64_t width = pass.width(), at_once = std::min(width, fold.kColumns);
  const std::int64_t blocks = (width + at_once - 1) / at_once, rows = (pass.length + pass.lanes - 1) / pass.lanes;
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / (rows * at_once));
  parallel_ranges(pass.outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t column = task % blocks * at_once;
      fold.columns(task / blocks, column, std::min(at_once, width - column));
    }
  });
}
#ifdef LETHE_DEVICE_CODE
template <class Join, class Term, class From, class To>
void fold_pass(Cuda device, void* stream, const FoldPass& pass, const From* x, To* y) {
  parallel_for(device, stream, pass.outputs(), FoldIndex<Join, Term, From, To>{pass, x, y});
}
#endif

}  // namespace lethe
