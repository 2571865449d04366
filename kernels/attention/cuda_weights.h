// What the kernels of the gradient on a GPU read, and what they make again of a row and a key.
#pragma once
#include "kernels/attention/cuda.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// What the gradient's kernels read.
template <class T>
struct AttentionGradArgs {
  AttentionArgs<T> a;
  Heads<const T> dy;
  const Compute<T>*lse, *delta;

  struct Weights {
    Compute<T> p, da, of_mask;  // p with its factor; da of the score before its cap, and of what the mask is added to
  };
  /// Of one row and one key that it sees.
  __device__ Weights weights(std::int64_t sample, std::int64_t head, std::int64_t row, std::int64_t key) const {
    const std::int64_t kv_head = head / a.shape.group(), size = a.shape.size;
    return weights(sample, head, row, key, dot(a.in.q.at(sample, row, head), a.in.k.at(sample, key, kv_head), size),
                   dot(dy.at(sample, row, head), a.in.v.at(sample, key, kv_head), size));
  }
  /// From q . k and dy . v.
  __device__ Weights weights(std::int64_t sample, std::int64_t head, std::int64_t row, std::int64_t key,
                             Compute<T> of_keys, Compute<T> of_values) const {
    using C = Compute<T>;
    const std::int64_t i = a.shape.row_of(sample, head, row);
    const C capped = a.capped(of_keys), t = a.shape.softcap > 0 ? capped / static_cast<C>(a.shape.softcap) : C(0);
    const C x = a.masked(capped, sample, head, row, key) - lse[i], m = a.kept.template factor_of<C>(i, key);
    const C p = std::exp(x > 0 ? C(0) : x);  // no share is above 1 but by rounding
    const C da = p * (m * of_values - delta[i]);
    return {m * p, da * (1 - t * t), da};
  }
};

}  // namespace lethe
#endif
