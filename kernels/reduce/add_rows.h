// A table to each of whose rows the rows of dy that have its id are added, in their order, on every device. Ids that
// are no row are passed over.
#pragma once
#include <algorithm>

#include "kernels/reduce/add_rows_cuda.h"

namespace lethe {

template <class T>
void add_rows(Cpu, void*, const RowSums<T>& sums) {
  parallel_ranges(sums.rows, 1, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * sums.width, count = (end - begin) * sums.width;
    if (!sums.before)
      std::fill_n(sums.table + first, count, Compute<T>(0));
    else if (sums.before != sums.table)
      std::copy_n(sums.before + first, count, sums.table + first);
    for (std::int64_t i = 0; i < sums.n; ++i) {
      const std::int64_t id = sums.ids[i];
      if (id < begin || id >= end) continue;
      for (std::int64_t c = 0; c < sums.width; ++c) sums.table[id * sums.width + c] += sums.dy[i * sums.width + c];
    }
  });
}

}  // namespace lethe
