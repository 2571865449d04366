// The gradient on a GPU: dy . y of each row, then dk and dv by keys and dq by rows, which make scores again.
#pragma once
#include "kernels/attention/cuda_weights.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// dy . y of each row of each head.
template <class T>
struct AttentionDelta {
  AttentionShape shape;
  Heads<const T> y, dy;
  Compute<T>* delta;
  HD void operator()(std::int64_t i) const {
    const std::int64_t row = i % shape.rows, head = i / shape.rows % shape.heads, sample = i / shape.rows / shape.heads;
    const T *const of_y = y.at(sample, row, head), *const of_dy = dy.at(sample, row, head);
    Compute<T> sum = 0;
    for (std::int64_t d = 0; d < shape.size; ++d) sum += of_y[d] * of_dy[d];
    delta[i] = sum;
  }
};

template <class T>
struct AttentionRowGrad {
  AttentionGradArgs<T> of;
  Heads<T> dq;

  __device__ void operator()(std::int64_t lane, std::int64_t i) const {
    using C = Compute<T>;
    const AttentionShape& s = of.a.shape;
    const HeadPosition at(i, s.heads, s.rows);
    const Positions seen = s.keys_of(at.position, s.keys_in(of.a.limits, at.sample));
    for (std::int64_t part = 0; part < s.size; part += kWarpNumbers) {
      LaneSums<C> sums(lane, part, s.size);
      for (std::int64_t key = seen.first; key < seen.last; key += 32) {
        const bool is_one = key + lane < seen.last;
        const C da = is_one ? of.weights(at.sample, at.head, at.position, key + lane).da : C(0);
        for (int j = 0; j < 32 && key + j < seen.last; ++j)
          sums.add(__shfl_sync(0xffffffffu, da, j), of.a.in.k.at(at.sample, key + j, at.head / s.group()));
      }
      sums.write(static_cast<C>(s.scale), dq.at(at.sample, at.position, at.head));
    }
  }
};

template <class T>
struct AttentionKeyGrad {
  AttentionGradArgs<T> of;
  Heads<T> dk, dv;

  __device__ void operator()(std::int64_t lane, std::int64_t i) const {
    using C = Compute<T>;
    const AttentionShape& s = of.a.shape;
    const HeadPosition at(i, s.kv_heads, s.keys);
    const Positions seen = s.rows_of(at.position, s.keys_in(of.a.limits, at.sample));
    for (std::int64_t part = 0; part < s.size; part += kWarpNumbers) {
      LaneSums<C> of_k(lane, part, s.size), of_v(lane, part, s.size);
      for (std::int64_t head = at.head * s.group(); head < (at.head + 1) * s.group(); ++head)
        for (std::int64_t row = seen.first; row < seen.last; row += 32) {
          typename AttentionGradArgs<T>::Weights w{};
          if (row + lane < seen.last) w = of.weights(at.sample, head, row + lane, at.position);
          for (int j = 0; j < 32 && row + j < seen.last; ++j) {
            of_k.add(__shfl_sync(0xffffffffu, w.da, j), of.a.in.q.at(at.sample, row + j, head));
            of_v.add(__shfl_sync(0xffffffffu, w.p, j), of.dy.at(at.sample, row + j, head));
          }
        }
      of_k.write(static_cast<C>(s.scale), dk.at(at.sample, at.position, at.head));
      of_v.write(C(1), dv.at(at.sample, at.position, at.head));
    }
  }
};

}  // namespace lethe
#endif
