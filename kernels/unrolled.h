// A loop that is written out: arrays then have constant indices alone, so that a GPU keeps them in registers, and loads
// of one turn need not wait for the turn before.
#pragma once
#include "kernels/hd.h"

namespace lethe {

/// Calls f(first), f(first + 1)... until f(end - 1).
template <int first, int end, class F>
HD void unrolled(const F& f) {
  if constexpr (first < end) {
    f(first);
    unrolled<first + 1, end>(f);
  }
}

}  // namespace lethe
