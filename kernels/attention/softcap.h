// Scores under a cap (Gemma 2, 2024): before a mask is added, x = scale * q . k becomes c = cap * tanh(x / cap). In the
// gradient da (shape.h) is that of c, which a mask is added to, and da (1 - (c / cap)^2) that of x, which dq and dk
// take.
#pragma once
#include "kernels/attention/tiles.h"

namespace lethe::attention {

/// For small x by its series (relative error 3e-10), or else from e^-2|x|.
inline Vector<float> tanh_of(const Vector<float>& x) {
  const Vector<float> z = x * x, size = x < 0 ? -x : x;
  Vector<float> series = z * (-1382.0F / 155925) + 62.0F / 2835;
  series = series * z - 17.0F / 315;
  series = series * z + 2.0F / 15;
  series = series * z - 1.0F / 3;
  series = series * z * x + x;
  const Vector<float> e = share_of(-2 * size), large = (1 - e) / (1 + e);
  return size < 0.25F ? series : x < 0 ? -large : large;
}
inline Vector<double> tanh_of(Vector<double> x) {
  for (std::int64_t i = 0; i < kWidth<double>; ++i) x[i] = std::tanh(x[i]);
  return x;
}

/// Of `keys` keys; `slopes`, unless null: the derivatives by the scores.
template <class C>
void cap_scores(const Tile& tile, std::int64_t keys, C cap, C* scores, C* slopes = nullptr) {
  for (std::int64_t i = 0; i < keys * tile.rows; i += kWidth<C>) {
    const Vector<C> t = tanh_of(load(scores + i) / cap);
    store(t * cap, scores + i);
    if (slopes) store(1 - t * t, slopes + i);
  }
}

}  // namespace lethe::attention
