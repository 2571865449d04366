// What the gradient of attention by blocks (blocks.h) makes of scores.
#pragma once
#include <cmath>

#include "kernels/attention/running_row.h"
#include "kernels/attention/sight.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

inline constexpr int kPart = 32;  // columns of a tile whose scores a warp has at once

/// What a row has: lse times log2(e), and dy . y.
struct RowNumbers {
  float lse, delta;
};

/// Makes of scores shares p with their factors, and of dy . v da. of_row(number, which of a lane's four) gives the
/// RowNumbers, drop(number, m) multiplies by the factors.
template <int N, class OfRow, class Drop>
__device__ void weigh(SumTile (&p)[N], SumTile (&da)[N], const Sight& sight, int from, float scale, const OfRow& of_row,
                      bool all_kept, const Drop& drop) {
  for (int n = 0; n < N; ++n)
    for (int i = 0; i < 4; ++i) {
      const float x = std::fma(p[n].at[i], scale, -of_row(n, i).lse);
      p[n].at[i] = exp2_of(x > 0 ? 0.0F : x);  // no share is above 1 but by rounding
    }
  sight.hide(p, from, 0.0F);
  const auto weigh_one = [&](int n, const SumTile& m) {
    for (int i = 0; i < 4; ++i) {
      da[n].at[i] = p[n].at[i] * (m.at[i] * da[n].at[i] - of_row(n, i).delta);
      p[n].at[i] *= m.at[i];
    }
  };
  constexpr SumTile kOnes{1, 1, 1, 1};
  if (all_kept) {
    for (int n = 0; n < N; ++n) weigh_one(n, kOnes);
    return;
  }
  LETHE_UNROLL
  for (int n = 0; n < N; ++n) {
    SumTile m = kOnes;
    drop(n, m);
    weigh_one(n, m);
  }
}

}  // namespace lethe
#endif
