// Factors of products packed as AMX's tiles (kernels/tiles/registers.h).
#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/tiles/registers.h"

namespace lethe::tiles {

/// A factor in memory: the rows of a left one, or the columns of a right one, are vectors of terms. Term k of vector i
/// stands at data[i * stride + k], or, `across`, at data[k * stride + i].
template <class T>
struct Vectors {
  const T* data;
  std::int64_t stride;
  bool across = false;
  Vectors from(std::int64_t vector, std::int64_t term) const {
    return {data + (across ? term * stride + vector : vector * stride + term), stride, across};
  }
};

/// How so many vectors of so many terms stand packed: [pieces of kPieceTiles along k][16 vectors][tile of the piece].
/// Two such rows of tiles of a piece stay in a first-level cache. There are zeros after the last vector and term.
struct Panel {
  static constexpr std::int64_t kPieceTiles = 8;
  std::int64_t vectors, terms;

  std::int64_t across() const { return (vectors + kRows - 1) / kRows; }  // tiles
  std::int64_t depth() const { return (terms + kDepth - 1) / kDepth; }
  std::int64_t size() const { return across() * depth() * kSize; }
  std::int64_t pieces() const { return (depth() + kPieceTiles - 1) / kPieceTiles; }
  std::int64_t depth_of(std::int64_t piece) const { return std::min(kPieceTiles, depth() - piece * kPieceTiles); }
  /// Of the first of the piece's tiles of the vectors from 16 * `at` on, in elements.
  std::int64_t offset(std::int64_t piece, std::int64_t at) const {
    return (piece * kPieceTiles * across() + at * depth_of(piece)) * kSize;
  }
};

enum class Side { Left, Right };

/// T: Bf16, or float, which is rounded.
template <class T>
void pack(const Panel& panel, const Vectors<T>& from, Side side, Bf16* to);

}  // namespace lethe::tiles
