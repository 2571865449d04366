// Dropout of a tile of shares on a CPU.
#pragma once
#include "kernels/attention/kept_shares.h"
#include "kernels/attention/tiles.h"

namespace lethe::attention {

/// Numbers that `draw` writes at most: of whole groups of four keys.
inline std::int64_t drawn_of(const Tile& tile) { return (round_up(tile.keys, 4) + 4) * tile.rows; }

/// m of a tile's shares as [key, row], from the row of [batch, heads, rows] and the key on; stands in `drawn`.
template <class C>
const C* draw(KeptShares kept, Tile tile, std::int64_t row, std::int64_t key, std::int64_t count, C* drawn) {
  C* to = drawn;
  for (std::int64_t group = key / 4; 4 * group < key + count; ++group, to += 4 * tile.rows)
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      C m[4];
      kept.factors_of(row + r, group, m);
      for (int i = 0; i < 4; ++i) to[i * tile.rows + r] = m[i];
    }
  return drawn + key % 4 * tile.rows;
}

template <class C>
void multiply(const Tile& tile, std::int64_t keys, const C* m, C* shares) {
  for (std::int64_t i = 0; i < keys * tile.rows; ++i) shares[i] *= m[i];
}

}  // namespace lethe::attention
