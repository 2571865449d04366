// Tiles of attention on a CPU. Scores of a tile stand as [key, row], so that a vector holds rows: a row's largest and
// its sum are then taken lane by lane.
#pragma once
#include <limits>

#include "kernels/attention/mask.h"
#include "kernels/attention/vectors.h"
#include "kernels/low_floats.h"
#include "kernels/workspace.h"

namespace lethe::attention {

inline constexpr std::int64_t kMostRows = 128, kMostKeys = 64;
/// What a tile has: `rows` is a multiple of 16, and so is `padded`, the numbers of a head with zeros after them.
struct Tile {
  std::int64_t rows, keys, size, padded;
  explicit Tile(const AttentionShape& s)
      : rows(std::min(kMostRows, round_up(s.rows, 16))),
        keys(std::min(kMostKeys, s.keys)),
        size(s.size),
        padded(round_up(s.size, 16)) {}

  std::int64_t of_rows() const { return rows * padded; }  // numbers of q, y, dy
  std::int64_t of_keys() const { return keys * padded; }  // of k, v
  std::int64_t of_scores() const { return keys * rows; }

  /// `count` rows of a head, the others up to `most` and what is after a head's numbers zero.
  template <class T>
  void load_rows(const T* from, std::int64_t width, std::int64_t count, std::int64_t most, Compute<T>* to) const {
    for (std::int64_t r = 0; r < most; ++r, from += width, to += padded) {
      const std::int64_t numbers = r < count ? size : 0;
      for (std::int64_t d = 0; d < numbers; ++d) to[d] = from[d];
      for (std::int64_t d = numbers; d < padded; ++d) to[d] = 0;
    }
  }
  template <class T>
  void store_row(const Compute<T>* from, Compute<T> factor, T* to) const {
    for (std::int64_t d = 0; d < size; ++d) to[d] = from[d] * factor;
  }
};

/// Rows from `row` on that are looked at together, and the keys that any of them sees.
struct RowBlock {
  std::int64_t row, rows;
  SampleKeys of;
  Positions keys;
  RowBlock(const AttentionShape& s, std::int64_t row, std::int64_t most, const SampleKeys& of)
      : row(row), rows(std::min(most, s.rows - row)), of(of), keys(s.keys_of_rows(row, row + rows, of)) {}

  /// Adds the mask to scores of `count` keys from `key` on.
  template <class T>
  void add(const ScoreMask<T>& mask, const Tile& tile, std::int64_t sample, std::int64_t head, std::int64_t key,
           std::int64_t count, Compute<T>* scores) const {
    constexpr std::int64_t kSide = 16;  // of squares whose lines of memory stay in the first cache: it is turned
    if (!mask.given()) return;
    mask.with_numbers(sample, head, [&](const auto* numbers, std::int64_t of_row) {
      for (std::int64_t r0 = 0; r0 < rows; r0 += kSide)
        for (std::int64_t j0 = 0; j0 < count; j0 += kSide)
          for (std::int64_t r = r0; r < std::min(r0 + kSide, rows); ++r) {
            const auto* const from = numbers + (row + r) * of_row + key;
            for (std::int64_t j = j0; j < std::min(j0 + kSide, count); ++j)
              scores[j * tile.rows + r] += static_cast<Compute<T>>(from[j]);
          }
    });
  }
  /// Makes scores of `count` keys from `key` on minus infinity where the row does not see the key.
  template <class C>
  void hide(const AttentionShape& s, const Tile& tile, std::int64_t key, std::int64_t count, C* scores) const {
    if (s.keys_of(row + rows - 1, of).first <= key && s.keys_of(row, of).last >= key + count) return;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Positions seen = s.keys_of(row + r, of);
      for (std::int64_t j = 0; j < count; ++j)
        if (key + j < seen.first || key + j >= seen.last)
          scores[j * tile.rows + r] = -std::numeric_limits<C>::infinity();
    }
  }
};

}  // namespace lethe::attention
