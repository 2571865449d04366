// The products of a tile of attention on a CPU, of f32 or f64.
#pragma once
#include "kernels/attention/tiles.h"

namespace lethe::attention {

template <class C>
class PlainProducts {
 public:
  using Columns = C;
  /// `worker`: the memory of one, to which is added what the products need.
  PlainProducts(const Tile& tile, WorkspaceLayout&) : tile_(tile) {}
  std::int64_t columns_size() const { return round_up(tile_.rows, simd::kPanel) * tile_.size; }

  /// Rows times the factor of scores, by columns. Some products take it here, others in give_scores(): both are told.
  void turn(const C* from, C factor, C* columns) const {
    constexpr std::int64_t panel = simd::kPanel;
    for (std::int64_t first = 0; first < tile_.rows; first += panel, columns += tile_.size * panel) {
      const std::int64_t count = std::min(panel, tile_.rows - first);
      for (std::int64_t d = 0; d < tile_.size; ++d)
        for (std::int64_t r = 0; r < count; ++r) columns[d * panel + r] = from[(first + r) * tile_.padded + d] * factor;
    }
  }
  /// scores[key, row] = k[key] . (what `columns` holds of the row)
  void give_scores(const KernelArgs&, std::int64_t keys, const C* k, const C* columns, C, C* scores) const {
    product<false>(keys, tile_.rows, tile_.size, Factor<C>{k, tile_.padded, 1},
                   Panels<C>{columns, simd::kPanel, tile_.size * simd::kPanel}, scores, tile_.rows);
  }
  /// dots[row] = of[row] . (what `columns` holds of the row), by the product that makes scores: where a share is 1 and
  /// y is v, the two leave nothing of each other, however a compiler rounds sums of products.
  void give_dots(const KernelArgs&, const C* of, const C* columns, C* dots) const {
    constexpr std::int64_t panel = simd::kPanel;
    for (std::int64_t first = 0; first < tile_.rows; first += panel) {
      const std::int64_t count = std::min(panel, tile_.rows - first);
      C each[panel * panel];
      product<false>(count, count, tile_.size, Factor<C>{of + first * tile_.padded, tile_.padded, 1},
                     Panels<C>{columns + first * tile_.size, panel, tile_.size * panel}, each, panel);
      for (std::int64_t i = 0; i < count; ++i) dots[first + i] = each[i * panel + i];
    }
  }
  /// sums[row] += over the keys weights[key, row] times[key]
  void add_by_rows(const KernelArgs&, std::int64_t keys, const C* weights, const C* times, C* sums) const {
    product<true>(tile_.rows, tile_.padded, keys, Factor<C>{weights, 1, tile_.rows},
                  Panels<C>{times, tile_.padded, simd::kPanel}, sums, tile_.padded);
  }
  /// sums[key] += over the rows weights[key, row] times[row]
  void add_by_keys(const KernelArgs&, std::int64_t keys, const C* weights, const C* times, C* sums) const {
    product<true>(keys, tile_.padded, tile_.rows, Factor<C>{weights, tile_.rows, 1},
                  Panels<C>{times, tile_.padded, simd::kPanel}, sums, tile_.padded);
  }

 private:
  Tile tile_;
};

}  // namespace lethe::attention
