// Parts of matrices, copied from one dtype to another.
#pragma once
#include <algorithm>

#include "kernels/cpu/parallel.h"
#include "kernels/low_floats.h"

namespace lethe {

/// A part of a row-major matrix.
template <class T>
struct Part {
  T* data;
  std::int64_t stride, rows, columns;
};

/// Writes the part's elements, or adds them to what is there.
template <class From, class To>
void convert_part(const Part<From>& from, const Part<To>& to, bool adds = false) {
  const std::int64_t grain = kElementGrain / std::max<std::int64_t>(from.columns, 1);
  parallel_ranges(from.rows, std::max<std::int64_t>(grain, 1), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const From* const x = from.data + r * from.stride;
      To* const y = to.data + r * to.stride;
      if (adds)
        std::transform(x, x + from.columns, y, y,
                       [](auto a, auto b) { return static_cast<To>(compute(a) + compute(b)); });
      else
        std::transform(x, x + from.columns, y, [](auto a) { return static_cast<To>(a); });
    }
  });
}

}  // namespace lethe
