// Attention on a GPU's tensor cores, of bf16 and f16; cuda.h has the other dtypes. A warp has 16 rows, or 16 keys, and
// goes through what they meet 16 at a time. Shares, and what becomes of them in the gradient, are rounded to the dtype
// before they are factors. Sums stand in one fixed order: every run gives the same bits.
#pragma once
#include "kernels/attention/cuda.h"
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

/// The running softmax of one of a lane's two rows, which three other lanes have too.
struct RunningRow {
  float most = std::numeric_limits<float>::lowest(), total = 0;

  /// Makes powers of scores, relative to the largest so far; gives what earlier sums fade to.
  __device__ float soften(ShareTile& shares, int row) {
    const float before = most;
    float sum = 0;
    for (SumTile& half : shares.half)
      for (int i = 2 * row; i < 2 * row + 2; ++i) most = half.at[i] > most ? half.at[i] : most;
    most = over_four(most, [](float x, float y) { return y > x ? y : x; });
    for (SumTile& half : shares.half)
      for (int i = 2 * row; i < 2 * row + 2; ++i) sum += half.at[i] = std::exp(half.at[i] - most);
    const float fade = std::exp(before - most);
    total = total * fade + over_four(sum, [](float x, float y) { return x + y; });
    return fade;
  }

 private:
  template <class Join>
  __device__ static float over_four(float value, const Join& join) {
    for (int lane = 1; lane < 4; lane *= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lane));
    return value;
  }
};

template <class T>
struct TensorRows {
  AttentionArgs<T> a;
  Heads<T> y;
  float* lse;

  __device__ void operator()(std::int64_t lane, std::int64_t sample, std::int64_t head, std::int64_t row,
                             std::int64_t first) const {
    const AttentionShape& s = a.shape;
    const std::int64_t length = s.length_of(a.lengths, sample), kv_head = head / s.group();
    const TileRows<T> q(a.in.q, sample, row, head, s.rows);
    HeadSums sums{lane, first};
    RunningRow rows[2];
    const Positions keys = s.keys_of_rows(row, row + 16, length);
    for (std::int64_t key = keys.first; key < keys.last; key += 16) {
      ShareTile shares;
      shares.add(lane, q, TileRows<T>(a.in.k, sample, key, kv_head, keys.last));
      shares.each(lane, [&](float& score, int, std::int64_t r, std::int64_t k) {
        score = s.sees(row + r, key + k, length) ? score * static_cast<float>(s.scale)
                                                 : -std::numeric_limits<float>::infinity();
      });
      const float fades[2] = {rows[0].soften(shares, 0), rows[1].soften(shares, 1)};
      sums.multiply(fades[0], fades[1]);
      if (!a.kept.all())
        shares.each(lane, [&](float& share, int, std::int64_t r, std::int64_t k) {
          share *= a.kept.template factor_of<float>(s.row_of(sample, head, row + r), key + k);
        });
      sums.add(shares.template left<T>(), TileRows<T>(a.in.v, sample, key, kv_head, keys.last));
    }
    const auto inverse = [](const RunningRow& of) { return of.total == 0 ? 0.0F : 1 / of.total; };
    sums.multiply(inverse(rows[0]), inverse(rows[1]));
    sums.write(y, sample, row, head);
    for (int r = 0; r < 2; ++r)
      if (const std::int64_t at = row + lane / 4 + 8 * r; at < s.rows && lane % 4 == 0 && first == 0)
        lse[s.row_of(sample, head, at)] = rows[r].total == 0 ? 0 : rows[r].most + std::log(rows[r].total);
  }
};

}  // namespace lethe
#endif
