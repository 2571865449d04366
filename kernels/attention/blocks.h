// Attention on a GPU's tensor cores, of bf16 and f16 and heads of up to 128 numbers, after FlashAttention-2 (Dao,
// 2023): a block has 64 rows of a head, 16 a warp, and takes the keys and values that they see through shared memory;
// for the gradient of keys it has 64 of these and takes rows. Scores stay in registers, where a warp's are factors of
// the next product as they stand. Shares, and what becomes of them in the gradient, are rounded to the dtype before
// they are factors. Sums stand in one fixed order: every run gives the same bits, whatever the addresses.
#pragma once
#include <type_traits>

#include "kernels/attention/block_copies.h"
#include "kernels/attention/cuda.h"
#include "kernels/packs.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

inline constexpr int kBlockRows = 16 * kWarps;
inline constexpr std::int64_t kMostBlockNumbers = 128;

/// Calls f with the numbers that a block reckons with for heads of so many: those left are zero, which changes no sum.
template <class F>
void for_block_size(std::int64_t size, const F& f) {
  if (size <= 64) return f(std::integral_constant<int, 64>());
  if (size <= 80) return f(std::integral_constant<int, 80>());
  if (size <= 96) return f(std::integral_constant<int, 96>());
  f(std::integral_constant<int, 128>());
}

/// Whether 16 bytes of any rows of these heads can be read and written at once.
inline bool can_pack_heads(const AttentionShape& s, std::initializer_list<const void*> heads) {
  return s.size % 8 == 0 && can_pack(heads);
}

/// The head of keys and values that one of queries has.
__device__ inline unsigned kv_head_of(const AttentionShape& s, std::int64_t head) {
  return static_cast<unsigned>(head) / (static_cast<unsigned>(s.heads) / static_cast<unsigned>(s.kv_heads));
}

template <class F>
__global__ void __launch_bounds__(32 * kWarps, F::kBlocks)
    attention_block_kernel(F f, unsigned heads, unsigned blocks) {
  LETHE_DYN_SHARED(typename F::Number, shared);
  const unsigned head = blockIdx.x / blocks, block = blockIdx.x % blocks;
  f(shared, head / heads, head % heads, static_cast<int>(block) * kBlockRows);
}
/// Calls f(shared memory, sample, head, position) in a block of its own for every 64 positions of each head.
template <class F>
void for_each_block(void* stream, std::int64_t batch, std::int64_t heads, std::int64_t positions, const F& f) {
  const auto blocks = static_cast<unsigned>((positions + kBlockRows - 1) / kBlockRows);
  constexpr std::size_t shared = F::kShared * sizeof(typename F::Number);
#ifdef __CUDACC__
  if constexpr (shared > 48 << 10)
    cudaFuncSetAttribute(attention_block_kernel<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
#endif
  LETHE_LAUNCH(attention_block_kernel<F>, dim3(static_cast<unsigned>(batch * heads * blocks)), dim3(32 * kWarps),
               shared, static_cast<cudaStream_t>(stream), f, static_cast<unsigned>(heads), blocks);
}

/// What a warp's 16 positions see on the other side: any of them, and each of a lane's two, lane / 4 and 8 more.
struct Sight {
  int first, last, of_lane[2][2];

  __device__ static Sight of_rows(const AttentionShape& s, int row, std::int64_t length) {
    const int at = row + static_cast<int>(threadIdx.x % 32 / 4);
    return {row < s.rows ? s.keys_of_rows(row, row + 16, length) : Positions{0, 0}, s.keys_of(at, length),
            s.keys_of(at + 8, length)};
  }
  __device__ static Sight of_keys(const AttentionShape& s, int key, std::int64_t length) {
    const int at = key + static_cast<int>(threadIdx.x % 32 / 4);
    return {s.rows_of_keys(key, key + 16, length), s.rows_of(at, length), s.rows_of(at + 8, length)};
  }

  __device__ bool any(int from, int count) const { return from < last && from + count > first; }
  /// Gives a value to those sums of a tile, whose columns are positions from `from` on, that are not seen.
  template <int N>
  __device__ void hide(SumTile (&tile)[N], int from, float value) const {
    if (of_lane[0][0] <= from && of_lane[1][0] <= from && of_lane[0][1] >= from + 8 * N &&
        of_lane[1][1] >= from + 8 * N)
      return;
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < 4; ++i) {
        const int at = from + 8 * n + static_cast<int>(threadIdx.x % 4) * 2 + i % 2;
        if (at < of_lane[i / 2][0] || at >= of_lane[i / 2][1]) tile[n].at[i] = value;
      }
  }

 private:
  __device__ Sight(const Positions& any, const Positions& one, const Positions& other)
      : first(static_cast<int>(any.first)),
        last(static_cast<int>(any.last)),
        of_lane{{static_cast<int>(one.first), static_cast<int>(one.last)},
                {static_cast<int>(other.first), static_cast<int>(other.last)}} {}
};

}  // namespace lethe
#endif
