// What linear_cross_entropy does with the logits of some rows: loss and gradient of a row.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/exp.h"
#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/rows.h"

namespace lethe {

struct HeadSizes {
  std::int64_t rows, width, classes;
  double smoothing, z;
  std::int64_t stride;  // of rows of logits in memory
};

/// From the logits of a row its loss, and then, in their place, their gradient: each if it is asked for.
template <class T>
struct HeadRow {
  using C = Compute<T>;
  HeadSizes s;
  std::int64_t first = 0;  // the row whose logits come first
  T* logits = nullptr;     // rows are whole packs apart
  const std::int32_t* label = nullptr;
  const C* dloss = nullptr;  // none: no gradient
  const C* known = nullptr;  // lse; none: it is computed, as are loss and right
  C *loss = nullptr, *lse = nullptr;
  std::uint8_t* right = nullptr;

  std::int64_t packs() const { return s.stride / together<T>(s.stride); }
  std::int64_t row_bytes() const { return s.stride * std::int64_t{sizeof(T)}; }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t i) const {
    in_packs<T, Team>(s.stride, [&](auto V) {
      const RowPacks<V, T> row{logits + i * s.stride, V > 1};
      const auto x = team.hold((s.classes + V - 1) / V, row);
      const C sum = known ? known[first + i] : give_loss<V>(team, x, row.row, first + i);
      if (dloss) give_gradient<V>(team, x, row, first + i, sum);
    });
  }

 private:
  HD bool names_class(std::int32_t which) const { return which >= 0 && which < s.classes; }
  /// The sum of what f gives of each logit and its class.
  template <int V, class Team, class X, class F>
  HD double sum(const Team& team, const X& x, const F& f) const {
    return team.sum((s.classes + V - 1) / V, [&](auto p) {
      const auto of_x = x[p];
      return sum_in_pack<V>([&](int v) { return f(compute(of_x[v]), p * V + v); }, s.classes - p * V);
    });
  }

  template <int V, class Team, class X>
  HD C give_loss(const Team& team, const X& x, const T* of_row, std::int64_t row) const {
    const std::int32_t which = label[row];
    const C most = team.max((s.classes + V - 1) / V, [&](auto p) { return max_in_pack(x[p], s.classes - p * V); });
    const C at_label =
        names_class(which) ? compute(of_row[which]) : most;  // read before a sum: the row may be overwritten then
    const double total = sum<V>(team, x, [=](C logit, std::int64_t) { return exp_of(logit - most); });
    double expected = 0;  // of x - most, under the smooth part of the target
    if (s.smoothing != 0)
      expected = sum<V>(team, x, [=](C logit, std::int64_t) { return logit - most; }) / static_cast<double>(s.classes);
    double before = 1;  // logits that are larger, or as large and come first, or are no numbers
    if (names_class(which) && at_label == most)
      before = sum<V>(
          team, x, [=](C logit, std::int64_t c) { return logit != logit || (logit == most && c < which) ? 1.0 : 0.0; });
    const double log_sum = static_cast<double>(most) + std::log(total);
    if (team.leads()) {
      lse[row] = static_cast<C>(log_sum);
      right[row] = before == 0;
      loss[row] = which < 0 ? C(0) : std::numeric_limits<C>::quiet_NaN();
      if (names_class(which))
        loss[row] = static_cast<C>(std::log(total) -
                                   ((1 - s.smoothing) * static_cast<double>(at_label - most) + s.smoothing * expected) +
                                   s.z * log_sum * log_sum);
    }
    return static_cast<C>(log_sum);
  }

  /// ((1 + 2 z lse) softmax(x) - target) * dloss.
  template <int V, class Team, class X>
  HD void give_gradient(const Team& team, const X& x, const RowPacks<V, T>& to, std::int64_t row, C sum) const {
    const std::int64_t packs = (s.classes + V - 1) / V;
    const std::int32_t which = label[row];
    if (which < 0) return team.each(packs, [&](auto p) { to.set(p, Pack<T, V>{}); });
    const C scale = names_class(which) ? dloss[row] : std::numeric_limits<C>::quiet_NaN();
    const C grown = static_cast<C>(1 + 2 * s.z * static_cast<double>(sum)), hit = static_cast<C>(1 - s.smoothing);
    const C everywhere = static_cast<C>(s.smoothing / static_cast<double>(s.classes));
    team.each(packs, [&](auto p) {
      const auto of_x = x[p];
      to.set(p, pack_of<T, V>([&](int v) {
               return (exp_of(of_x[v] - sum) * grown - everywhere - (p * V + v == which ? hit : C(0))) * scale;
             }));
    });
  }
};

}  // namespace lethe
