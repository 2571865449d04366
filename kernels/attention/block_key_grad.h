// dk and dv by blocks: a block has 64 keys of a head and takes the rows that see them, of all heads that share it.
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
struct BlockKeyGrad {
  using Number = T;
  static constexpr bool kHolds = Size <= 64;          // keys and values in registers, or else in shared memory
  static constexpr int kRows = Size <= 64 ? 64 : 32;  // of a tile
  static constexpr int kBlocks = 2;
  static constexpr int kOwn = kHolds ? 0 : 4 * kRows;  // where in shared memory the keys are, and then the values
  static constexpr int kNumbers = (kHolds ? 4 * kRows : 4 * kRows + 2 * kBlockRows) * SharedRows<T, Size>::kApart;
  static constexpr int kShared = kNumbers + 4 * kRows * static_cast<int>(sizeof(float) / sizeof(T));
  AttentionGradArgs<T> of;
  Heads<T> dk, dv;
  bool packs;

  __device__ void operator()(T* memory, std::int64_t sample, std::int64_t kv_head, int key) const {
    const AttentionShape& s = of.a.shape;
    const int of_warp = static_cast<int>(threadIdx.x / 32) * 16, lane = static_cast<int>(threadIdx.x % 32);
    const SampleKeys in_sample = s.keys_in(of.a.limits, sample);
    const Positions seen = s.rows_of_keys(key, key + kBlockRows, in_sample);
    const int first = static_cast<int>(seen.first), last = static_cast<int>(seen.last);
    const Sight sight = Sight::of_keys(s, key + of_warp, in_sample);
    const auto scale = static_cast<float>(s.scale * kLog2e);
    const SharedRows<T, Size> shared{memory}, own = shared.from(kOwn);
    float* const numbers = reinterpret_cast<float*>(memory + kNumbers);  // lse and delta of a tile's rows, twice
    const auto group = static_cast<unsigned>(s.heads) / static_cast<unsigned>(s.kv_heads);
    const unsigned tiles = static_cast<unsigned>(last - first + kRows - 1) / kRows;
    const auto head_of = [&](unsigned i) { return kv_head * group + i / tiles; };
    const auto row_of = [&](unsigned i) { return first + static_cast<int>(i % tiles) * kRows; };
    const auto copy = [&](unsigned i, int half) {
      const std::int64_t head = head_of(i);
      const int row = row_of(i), thread = static_cast<int>(threadIdx.x);
      HeadRows<T>(of.a.in.q, sample, head, packs).template copy<kRows>(row, last, shared.from(2 * kRows * half));
      HeadRows<T>(of.dy, sample, head, packs).template copy<kRows>(row, last, shared.from(2 * kRows * half + kRows));
      if (const int r = row + thread % kRows; thread < 2 * kRows)
        copy_later<4>(numbers + 2 * kRows * half + thread,
                      (thread < kRows ? of.lse : of.delta) + s.row_of(sample, head, r), r < last ? 4 : 0);
    };
    const int end = static_cast<int>(s.keys);
    HeadRows<T>(of.a.in.k, sample, kv_head, packs).template copy<kBlockRows>(key, end, own);
    HeadRows<T>(of.a.in.v, sample, kv_head, packs).template copy<kBlockRows>(key, end, own.from(kBlockRows));
    LeftTile k[Size / 16], v[Size / 16];
    meet_copies();
    for (int d = 0; kHolds && d < Size; d += 16) {
      k[d / 16] = own.left(of_warp, d);
      v[d / 16] = own.left(kBlockRows + of_warp, d);
    }
    const auto of_key = [&](int d) { return kHolds ? k[d / 16] : own.left(of_warp, d); };
    const auto of_value = [&](int d) { return kHolds ? v[d / 16] : own.left(kBlockRows + of_warp, d); };
    meet_copies();
    if (tiles > 0) copy(0, 0);

    SumTile of_k[Size / 8] = {}, of_v[Size / 8] = {};
    for (unsigned i = 0; i < group * tiles; ++i) {
      const int half = static_cast<int>(i % 2), row = row_of(i);
      meet_copies();
      if (i + 1 < group * tiles) copy(i + 1, 1 - half);
      for (int part = 0; part < kRows; part += kPart) {
        if (!sight.any(row + part, kPart)) continue;
        const SharedRows<T, Size> q = shared.from(2 * kRows * half + part), dy = q.from(kRows);
        const float* const of_rows = numbers + 2 * kRows * half + part + 2 * (lane % 4);
        SumTile p[kPart / 8] = {}, da[kPart / 8] = {};
        add_scores<T>(p, of_key, q);
        add_scores<T>(da, of_value, dy);
        weigh(
            p, da, sight, row + part, scale,
            [&](int n, int j) {
              const float* const at = of_rows + 8 * n + j % 2;
              return RowNumbers{at[0] * static_cast<float>(kLog2e), at[kRows]};
            },
            of.a.kept.all(),
            [&](int n, SumTile& m) {
              drop_turned(of.a.kept, s.row_of(sample, head_of(i), row + part + 8 * n), key + of_warp, m);
            });
        add_rows<T, kPart / 8, Size>(of_v, p, dy);
        add_rows<T, kPart / 8, Size>(of_k, da, q);
      }
    }
    const auto factor = static_cast<float>(s.scale);
    write_rows(of_k, {factor, factor}, dk, sample, kv_head, key + of_warp, packs);
    write_rows(of_v, {1.0F, 1.0F}, dv, sample, kv_head, key + of_warp, packs);
  }
};

}  // namespace lethe
#endif
