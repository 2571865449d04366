// The opposite of a sum over the middle: each of the outer * inner values goes to every place of the middle.
#pragma once
#include <algorithm>

#include "kernels/divisor.h"
#include "kernels/low_floats.h"
#include "kernels/packs.h"
#include "kernels/reduce/plan.h"

namespace lethe {

/// to[outer, middle, inner] = from[outer, inner] * factor.
template <class T>
struct Spread {
  SumExtent extent;
  Compute<T> factor;
  const T* from;
  T* to;
};

template <class T>
void spread_middle(Cpu, void*, const Spread<T>& s) {
  // A stretch is what one loop can write: a row of `inner` values, or where that is 1 the same value `middle` times.
  const bool same = s.extent.inner == 1;
  const std::int64_t stretch = same ? s.extent.middle : s.extent.inner;
  parallel_ranges(s.extent.size(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin / stretch, i = begin; i < end; ++row) {
      const T* const from = same ? s.from + row : s.from + row / s.extent.middle * stretch;
      const std::int64_t stop = std::min(end, (row + 1) * stretch), step = same ? 0 : 1;
      for (std::int64_t j = i - row * stretch; i < stop; ++i, ++j) s.to[i] = from[j * step] * s.factor;
    }
  });
}

#ifdef LETHE_DEVICE_CODE
template <class T>
struct SpreadIndex {
  Spread<T> s;
  Divisor plane, inner;
  HD const T* source(std::int64_t i) const { return s.from + plane.quotient(i) * inner.by() + inner.remainder(i); }
  HD void operator()(std::int64_t i) const { s.to[i] = *source(i) * s.factor; }
  template <int V>
  HD void pack(std::int64_t i) const {
    const Pack<T, V> from = load_pack<V>(source(i));
    Pack<T, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = from.at[k] * s.factor;
    store_pack(s.to + i, to);
  }
};

template <class T>
void spread_middle(Cuda device, void* stream, const Spread<T>& spread) {
  const SumExtent& extent = spread.extent;
  for_each_pack<kPack<T>>(device, stream, extent.size(),
                          extent.inner % kPack<T> == 0 && can_pack({spread.from, spread.to}),
                          SpreadIndex<T>{spread, Divisor(extent.middle * extent.inner), Divisor(extent.inner)});
}
#endif

}  // namespace lethe
