// dq by blocks (blocks.h): a block has 64 rows of a head and takes the keys and values that they see.
#pragma once
#include "kernels/attention/block_copies.h"
#include "kernels/attention/block_drops.h"
#include "kernels/attention/block_weights.h"
#include "kernels/attention/blocks.h"
#include "kernels/attention/cuda_weights.h"
#include "kernels/shared_copies.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

template <class T, int Size>
struct BlockRowGrad {
  using Number = T;
  static constexpr int kKeys = Size <= 64 ? 64 : 32;  // of a tile
  static constexpr int kBlocks = Size <= 64 ? 3 : 2;
  static constexpr int kShared = 4 * kKeys * SharedRows<T, Size>::kApart;
  AttentionGradArgs<T> of;
  Heads<T> dq;
  bool packs;

  __device__ void operator()(T* memory, std::int64_t sample, std::int64_t head, int block) const {
    const AttentionShape& s = of.a.shape;
    const int row = static_cast<int>(s.rows - 1) / kBlockRows * kBlockRows - block;  // the longest first, if causal
    const int of_warp = static_cast<int>(threadIdx.x / 32) * 16, lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t kv_head = kv_head_of(s, head);
    const SampleKeys in_sample = s.keys_in(of.a.limits, sample);
    const HeadRows<T> k(of.a.in.k, sample, kv_head, packs), v(of.a.in.v, sample, kv_head, packs);
    const Positions keys = s.keys_of_rows(row, row + kBlockRows, in_sample);
    const int first = static_cast<int>(keys.first) / 4 * 4, last = static_cast<int>(keys.last);
    const Sight sight = Sight::of_rows(s, row + of_warp, in_sample);
    const auto scale = static_cast<float>(s.scale * kLog2e);
    const SharedRows<T, Size> shared{memory};
    const auto copy = [&](int key, int half) {
      k.template copy<kKeys>(key, last, shared.from(2 * kKeys * half));
      v.template copy<kKeys>(key, last, shared.from(2 * kKeys * half + kKeys));
    };
    const int end = static_cast<int>(s.rows);
    HeadRows<T>(of.a.in.q, sample, head, packs).template copy<kBlockRows>(row, end, shared);
    HeadRows<T>(of.dy, sample, head, packs).template copy<kBlockRows>(row, end, shared.from(kBlockRows));
    const std::int64_t of_head = s.row_of(sample, head, 0);
    RowNumbers rows[2] = {};
    for (int r = 0; r < 2; ++r)
      if (const int at = row + of_warp + lane / 4 + 8 * r; at < end)
        rows[r] = {of.lse[of_head + at] * static_cast<float>(kLog2e), of.delta[of_head + at]};
    meet_copies();
    LeftTile q[Size / 16], dy[Size / 16];
    for (int d = 0; d < Size; d += 16) {
      q[d / 16] = shared.left(of_warp, d);
      dy[d / 16] = shared.left(kBlockRows + of_warp, d);
    }
    meet_copies();
    if (first < last) copy(first, 0);

    SumTile sums[Size / 8] = {};
    for (int key = first, half = 0; key < last; key += kKeys, half = 1 - half) {
      meet_copies();
      if (key + kKeys < last) copy(key + kKeys, 1 - half);
      for (int part = 0; part < kKeys; part += kPart) {
        if (!sight.any(key + part, kPart)) continue;
        const SharedRows<T, Size> of_k = shared.from(2 * kKeys * half + part), of_v = of_k.from(kKeys);
        SumTile p[kPart / 8] = {}, da[kPart / 8] = {};
        add_scores<T>(
            p, [&](int d) { return q[d / 16]; }, of_k);
        add_scores<T>(
            da, [&](int d) { return dy[d / 16]; }, of_v);
        weigh(
            p, da, sight, key + part, scale, [&](int, int i) { return rows[i / 2]; }, of.a.kept.all(),
            [&](int n, SumTile& m) { drop_shares(of.a.kept, of_head + row + of_warp, key + part + 8 * n, m); });
        add_rows<T, kPart / 8, Size>(sums, da, of_k);
      }
    }
    const auto factor = static_cast<float>(s.scale);
    write_rows(sums, {factor, factor}, dq, sample, head, row + of_warp, packs);
  }
};

}  // namespace lethe
#endif
