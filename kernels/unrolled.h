// A loop that is written out: arrays then have constant indices alone, so that a GPU keeps them in registers, and loads
// of one turn need not wait for the turn before.
#pragma once
#include "kernels/hd.h"

namespace lethe {

/// Calls f(First), f(First + 1)... until f(End - 1).
template <int First, int End, class F>
HD void unrolled(const F& f) {
  if constexpr (First < End) {
    f(First);
    unrolled<First + 1, End>(f);
  }
}

}  // namespace lethe
