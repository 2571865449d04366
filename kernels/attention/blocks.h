// Attention on a GPU's tensor cores, of bf16 and f16 and heads of up to 128 numbers, after FlashAttention-2 (Dao,
// 2023): a block has 64 rows of a head, 16 a warp, and takes the keys and values that they see through shared memory;
// for the gradient of keys it has 64 of these and takes rows. Scores stay in registers, where a warp's are factors of
// the next product as they stand. Shares, and what becomes of them in the gradient, are rounded to the dtype before
// they are factors. Sums stand in one fixed order: every run gives the same bits, whatever the addresses.
#pragma once
#include <type_traits>

#include "kernels/attention/cuda.h"
#include "kernels/packs.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

inline constexpr int kBlockRows = 16 * kWarps;
inline constexpr std::int64_t kMostBlockNumbers = 128;

/// What else becomes of scores than to be scaled tensor.h does: these kernels have no register to spare.
inline bool fits_blocks(const AttentionShape& s) {
  return s.size <= kMostBlockNumbers && !s.mask.given() && s.softcap == 0;
}

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
  LETHE_LAUNCH(attention_block_kernel<F>, dim3(static_cast<unsigned>(batch * heads * blocks)), dim3(32 * kWarps),
               shared, static_cast<cudaStream_t>(stream), f, static_cast<unsigned>(heads), blocks);
}

}  // namespace lethe
#endif
