// Attention by blocks (blocks.h).
#pragma once
#include "kernels/attention/block_copies.h"
#include "kernels/attention/block_drops.h"
#include "kernels/attention/blocks.h"
#include "kernels/attention/running_row.h"
#include "kernels/attention/sight.h"
#include "kernels/shared_copies.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Size: at least that of heads. `packs`: whether 16 bytes of all rows can be read and written at once.
template <class T, int Size>
struct BlockRows {
  using Number = T;
  static constexpr int kKeys = Size <= 64 ? 64 : 32;                   // of a tile
  static constexpr int kBlocks = Size <= 64 ? 4 : Size <= 96 ? 3 : 2;  // at least at once on a multiprocessor
  static constexpr int kShared = 4 * kKeys * SharedRows<T, Size>::kApart;
  AttentionArgs<T> a;
  Heads<T> y;
  float* lse;
  bool packs;

  __device__ void operator()(T* memory, std::int64_t sample, std::int64_t head, int block) const {
    const AttentionShape& s = a.shape;
    const int row = static_cast<int>(s.rows - 1) / kBlockRows * kBlockRows - block;  // the longest first, if causal
    const int of_warp = static_cast<int>(threadIdx.x / 32) * 16;
    const std::int64_t kv_head = kv_head_of(s, head);
    const SampleKeys in_sample = s.keys_in(a.limits, sample);
    const HeadRows<T> q(a.in.q, sample, head, packs), k(a.in.k, sample, kv_head, packs),
        v(a.in.v, sample, kv_head, packs);
    const Positions keys = s.keys_of_rows(row, row + kBlockRows, in_sample);
    const int first = static_cast<int>(keys.first) / 4 * 4, last = static_cast<int>(keys.last);
    const Sight sight = Sight::of_rows(s, row + of_warp, in_sample);
    const SharedRows<T, Size> shared{memory};
    const auto copy = [&](int key, int half) {
      k.template copy<kKeys>(key, last, shared.from(2 * kKeys * half));
      v.template copy<kKeys>(key, last, shared.from(2 * kKeys * half + kKeys));
    };
    q.template copy<kBlockRows>(row, static_cast<int>(s.rows), shared.from(2 * kKeys));
    copy(first, 0);
    meet_copies();
    LeftTile of_q[Size / 16];
    for (int d = 0; d < Size; d += 16) of_q[d / 16] = shared.left(2 * kKeys + of_warp, d);

    SumTile sums[Size / 8] = {};
    RunningRow rows[2];
    for (int key = first, half = 0; key < last; key += kKeys, half = 1 - half) {
      meet_copies();
      if (key + kKeys < last) copy(key + kKeys, 1 - half);
      if (!sight.any(key, kKeys)) continue;
      SumTile shares[kKeys / 8] = {};
      add_scores<T>(
          shares, [&](int d) { return of_q[d / 16]; }, shared.from(2 * kKeys * half));
      for (SumTile& tile : shares)
        for (float& score : tile.at) score *= static_cast<float>(s.scale * kLog2e);
      sight.hide(shares, key, -std::numeric_limits<float>::infinity());
      const float fades[2] = {rows[0].soften(shares, 0), rows[1].soften(shares, 1)};
      for (SumTile& tile : sums)
        for (int i = 0; i < 4; ++i) tile.at[i] *= fades[i / 2];
      if (!a.kept.all()) {
        LETHE_UNROLL
        for (int n = 0; n < kKeys / 8; ++n)
          drop_shares(a.kept, s.row_of(sample, head, row + of_warp), key + 8 * n, shares[n]);
      }
      add_rows<T, kKeys / 8, Size>(sums, shares, shared.from(2 * kKeys * half + kKeys));
    }
    for (RunningRow& of : rows) of.end();
    const int lane = static_cast<int>(threadIdx.x % 32);
    write_rows(sums, {rows[0].inverse(), rows[1].inverse()}, y, sample, head, row + of_warp, packs);
    for (int r = 0; r < 2; ++r)
      if (const int at = row + of_warp + lane / 4 + 8 * r; at < s.rows && lane % 4 == 0)
        lse[s.row_of(sample, head, at)] = rows[r].lse();
  }
};

}  // namespace lethe
#endif
