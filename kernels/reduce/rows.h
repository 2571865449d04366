// One row of a matrix at a time: softmax, layer norm, losses. The row's algorithm is written once, over a team that can
// sum, find the largest, and do something for each element, or each pack of them: on the CPU one thread, on a GPU a
// block, or threads that hold the row (hold) in registers or shared memory. A result of a sum or a maximum is known to
// all; a team has read its row before it returns one, so a row may then be overwritten.
#pragma once
#include <algorithm>
#include <limits>

#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/rows_cuda.h"

namespace lethe {

/// A CPU thread. Sums and maxima run in lanes, so that they vectorise and give the same bits at any vector width.
class OneThread {
 public:
  static constexpr bool kTakesPacks = false, kHolds = false;
  /// Short runs in the type that `f` gives, runs in double.
  template <class F>
  HD double sum(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(std::int64_t{}))>;
    double totals[kLanes] = {};
    std::int64_t i = 0;
    while (i + kLanes <= n) {
      T run[kLanes] = {};
      for (const std::int64_t stop = i + kLanes * kRun; i + kLanes <= n && i < stop; i += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) run[lane] += f(i + lane);
      for (int lane = 0; lane < kLanes; ++lane) totals[lane] += static_cast<double>(run[lane]);
    }
    double total = 0;
    for (; i < n; ++i) total += static_cast<double>(f(i));
    for (int lane = 0; lane < kLanes; ++lane) total += totals[lane];
    return total;
  }
  /// NaN is passed over.
  template <class F>
  HD auto max(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(std::int64_t{}))>;
    T most[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) most[lane] = -std::numeric_limits<T>::infinity();
    std::int64_t i = 0;
    const auto larger = [](T a, T b) { return a > b ? a : b; };
    for (; i + kLanes <= n; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) most[lane] = larger(f(i + lane), most[lane]);
    for (; i < n; ++i) most[0] = larger(f(i), most[0]);
    for (int lane = 1; lane < kLanes; ++lane) most[0] = larger(most[lane], most[0]);
    return most[0];
  }
  template <class F>
  HD void each(std::int64_t n, const F& f) const {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  /// Row i of what follows; a GPU's threads may keep it (kHolds): then each element is read once.
  template <class Row>
  HD Row hold(std::int64_t, const Row& row) const {
    return row;
  }
  /// Whether this thread writes what there is one of in a row.
  HD bool leads() const { return true; }

 private:
  static constexpr int kLanes = 16;
};

/// Calls f(team, row) for every row; `length` is what a row costs, in elements. f hands a team f.packs() packs of a
/// row, or if it has no such function `length` elements. F has kSameSteps if no row leaves out a sum that another has.
template <class F>
void for_each_row(Cpu, void*, std::int64_t rows, std::int64_t length, const F& f) {
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / std::max<std::int64_t>(1, length));
  parallel_ranges(rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(OneThread{}, row);
  });
}

/// Whether a row that f holds is read once, whatever is computed of it.
template <class F>
bool reads_once(Cpu, const F&, std::int64_t) {
  return false;
}

/// Shape rule: as input 0, which has a last axis.
inline std::vector<Type> same_rows_as_first(const InferArgs& args) {
  check(!args.in(0).shape.empty(), args.op.type, ": the input is a scalar");
  return same_as_first(args);
}

}  // namespace lethe
