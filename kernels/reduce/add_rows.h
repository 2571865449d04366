// A table each of whose rows is the sum of the rows of dy that have its id, in their order, on every device. Ids that
// are no row are passed over.
#pragma once
#include <algorithm>

#include "kernels/reduce/add_rows_cuda.h"

namespace lethe {

template <class T>
void add_rows(Cpu, void*, const RowSums<T>& sums) {
  parallel_ranges(sums.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    std::fill_n(sums.table + begin * sums.width, (end - begin) * sums.width, Compute<T>(0));
    for (std::int64_t i = 0; i < sums.n; ++i) {
      const std::int64_t id = sums.ids[i];
      if (id < begin || id >= end) continue;
      for (std::int64_t c = 0; c < sums.width; ++c) sums.table[id * sums.width + c] += sums.dy[i * sums.width + c];
    }
  });
}

}  // namespace lethe
