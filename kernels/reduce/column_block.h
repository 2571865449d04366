// How a block of a GPU's threads stands over a matrix whose columns belong together: each thread has a column, or a
// pack of neighbouring ones, and walks down its rows with what it knows of them in registers.
#pragma once
#include <cstdint>

#include "kernels/device_code.h"

namespace lethe {

/// `lanes` rows of `width` columns, or packs of V columns, at a time; as many blocks side by side as cover all. Rows of
/// a block are read 128 bytes or more at a stretch, and few enough columns that a block can add up all their pieces.
struct ColumnBlock {
  static constexpr std::int64_t kThreads = 256;
  std::int64_t blocks, width, lanes;
  HD ColumnBlock(std::int64_t columns, int V)
      : blocks((columns / V + most(V) - 1) / most(V)),
        width((columns / V + blocks - 1) / blocks),
        lanes(kThreads / width) {}
  /// The end of block x's columns of `columns`, in columns.
  HD std::int64_t end(std::int64_t x, int V, std::int64_t columns) const {
    const std::int64_t end = (x + 1) * width * V;
    return end < columns ? end : columns;
  }

 private:
  HD static std::int64_t most(int V) { return V > 1 ? 16 : 32; }
};

}  // namespace lethe
