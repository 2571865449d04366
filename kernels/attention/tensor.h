// Attention on tensor cores where blocks.h takes no part: for heads of more numbers, and with a mask or a cap of
// scores. A warp has 16 rows, or 16 keys, and goes through what they meet 16 at a time. Shares, and what becomes of
// them in the gradient, are rounded to the dtype before they are factors. Sums stand in one fixed order: every run
// gives the same bits.
#pragma once
#include "kernels/attention/cuda.h"
#include "kernels/attention/running_row.h"
#include "kernels/attention/tensor_tiles.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Whether a head's numbers of 16 bits can be read in pairs.
inline bool fits_tensor_cores(const AttentionShape& s) { return s.size % 2 == 0; }

/// Calls f(lane, sample, head, position, first number) for every 16 positions of each head and every part of its
/// numbers.
template <class F>
struct TensorTask {
  F f;
  std::int64_t heads, blocks, parts;
  __device__ void operator()(std::int64_t lane, std::int64_t i) const {
    const HeadPosition at(i / parts, heads, blocks);
    f(lane, at.sample, at.head, 16 * at.position, i % parts * HeadSums::kNumbers);
  }
};
template <class F>
void for_each_tensor_block(void* stream, const AttentionShape& s, std::int64_t heads, std::int64_t positions,
                           const F& f) {
  const TensorTask<F> task{f, heads, (positions + 15) / 16, (s.size + HeadSums::kNumbers - 1) / HeadSums::kNumbers};
  for_each_warp(stream, s.batch * heads * task.blocks * task.parts, task);
}

template <class T>
struct TensorRows {
  AttentionArgs<T> a;
  Heads<T> y;
  float* lse;

  __device__ void operator()(std::int64_t lane, std::int64_t sample, std::int64_t head, std::int64_t row,
                             std::int64_t first) const {
    const AttentionShape& s = a.shape;
    const std::int64_t kv_head = head / s.group();
    const SampleKeys in_sample = s.keys_in(a.limits, sample);
    const TileRows<T> q(a.in.q, sample, row, head, s.rows);
    HeadSums sums{lane, first};
    RunningRow rows[2];
    const Positions keys = s.keys_of_rows(row, row + 16, in_sample);
    for (std::int64_t key = keys.first; key < keys.last; key += 16) {
      ShareTile shares;
      shares.add(lane, q, TileRows<T>(a.in.k, sample, key, kv_head, keys.last));
      shares.each(lane, [&](float& score, int, std::int64_t r, std::int64_t k) {
        if (!s.sees(row + r, key + k, in_sample))
          score = -std::numeric_limits<float>::infinity();
        else if (a.mask.given() || s.softcap > 0)
          score = a.masked(a.capped(score), sample, head, row + r, key + k) * static_cast<float>(kLog2e);
        else
          score *= static_cast<float>(s.scale * kLog2e);
      });
      const float fades[2] = {rows[0].soften(shares.half, 0), rows[1].soften(shares.half, 1)};
      sums.multiply(fades[0], fades[1]);
      if (!a.kept.all())
        shares.each(lane, [&](float& share, int, std::int64_t r, std::int64_t k) {
          share *= a.kept.template factor_of<float>(s.row_of(sample, head, row + r), key + k);
        });
      sums.add(shares.template left<T>(), TileRows<T>(a.in.v, sample, key, kv_head, keys.last));
    }
    for (RunningRow& of : rows) of.end();
    sums.multiply(rows[0].inverse(), rows[1].inverse());
    sums.write(y, sample, row, head);
    for (int r = 0; r < 2; ++r)
      if (const std::int64_t at = row + lane / 4 + 8 * r; at < s.rows && lane % 4 == 0 && first == 0)
        lse[s.row_of(sample, head, at)] = rows[r].lse();
  }
};

}  // namespace lethe
#endif
