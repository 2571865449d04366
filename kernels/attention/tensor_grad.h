// The gradient on a GPU's tensor cores, as cuda_weights.h.
#pragma once
#include "kernels/attention/cuda_weights.h"
#include "kernels/attention/tensor.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

template <class T>
struct TensorRowGrad {
  AttentionGradArgs<T> of;
  Heads<T> dq;

  __device__ void operator()(std::int64_t lane, std::int64_t sample, std::int64_t head, std::int64_t row,
                             std::int64_t first) const {
    const AttentionShape& s = of.a.shape;
    const std::int64_t kv_head = head / s.group();
    const SampleKeys in_sample = s.keys_in(of.a.limits, sample);
    const TileRows<T> q(of.a.in.q, sample, row, head, s.rows), dy(of.dy, sample, row, head, s.rows);
    HeadSums sums{lane, first};
    const Positions keys = s.keys_of_rows(row, row + 16, in_sample);
    for (std::int64_t key = keys.first; key < keys.last; key += 16) {
      const TileRows<T> k(of.a.in.k, sample, key, kv_head, keys.last), v(of.a.in.v, sample, key, kv_head, keys.last);
      ShareTile scores, da;
      scores.add(lane, q, k);
      da.add(lane, dy, v);
      da.each(lane, [&](float& number, int i, std::int64_t r, std::int64_t c) {
        number = s.sees(row + r, key + c, in_sample)
                     ? of.weights(sample, head, row + r, key + c, scores.at(i), number).da
                     : 0;
      });
      sums.add(da.template left<T>(), k);
    }
    const auto scale = static_cast<float>(s.scale);
    sums.multiply(scale, scale);
    sums.write(dq, sample, row, head);
  }
};

template <class T>
struct TensorKeyGrad {
  AttentionGradArgs<T> of;
  Heads<T> dk, dv;

  __device__ void operator()(std::int64_t lane, std::int64_t sample, std::int64_t kv_head, std::int64_t key,
                             std::int64_t first) const {
    const AttentionShape& s = of.a.shape;
    const SampleKeys in_sample = s.keys_in(of.a.limits, sample);
    const TileRows<T> k(of.a.in.k, sample, key, kv_head, s.keys), v(of.a.in.v, sample, key, kv_head, s.keys);
    HeadSums of_k{lane, first}, of_v{lane, first};
    const Positions rows = s.rows_of_keys(key, key + 16, in_sample);
    for (std::int64_t head = kv_head * s.group(); head < (kv_head + 1) * s.group(); ++head)
      for (std::int64_t row = rows.first; row < rows.last; row += 16) {
        const TileRows<T> q(of.a.in.q, sample, row, head, rows.last), dy(of.dy, sample, row, head, rows.last);
        ShareTile p, da;
        p.add(lane, k, q);
        da.add(lane, v, dy);
        p.each(lane, [&](float& number, int i, std::int64_t r, std::int64_t c) {
          typename AttentionGradArgs<T>::Weights w{};
          if (s.sees(row + c, key + r, in_sample)) w = of.weights(sample, head, row + c, key + r, number, da.at(i));
          number = w.p;
          da.at(i) = w.da;
        });
        of_v.add(p.template left<T>(), dy);
        of_k.add(da.template left<T>(), q);
      }
    const auto scale = static_cast<float>(s.scale);
    of_k.multiply(scale, scale);
    of_k.write(dk, sample, key, kv_head);
    of_v.write(dv, sample, key, kv_head);
  }
};

}  // namespace lethe
#endif
