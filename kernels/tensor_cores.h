// A product of bf16 or f16 on a warp's tensor cores, with sums in f32: 16 rows by 8 columns, over 16 numbers. What a
// lane has of each matrix is as PTX says of mma.m16n8k16: with g = lane / 4 and t = lane % 4, of sums the rows g and g
// + 8 in the columns 2 t and 2 t + 1.
#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/device_code.h"
#include "kernels/low_floats.h"

#ifdef LETHE_DEVICE_CODE
/// Before loops whose bodies are long and have registers by their index.
#ifdef __CUDACC__
#define LETHE_UNROLL _Pragma("unroll")
#else
#define LETHE_UNROLL
#endif

namespace lethe {

inline constexpr std::int64_t kWarps = 4;  // of a block

// A pair is two numbers side by side that are summed over.
struct LeftTile {
  std::uint32_t pairs[4];  // of row g and of row g + 8: pair t, then of both pair t + 4
};
struct RightTile {
  std::uint32_t pairs[2];  // of column g: pair t and pair t + 4
};
struct SumTile {
  float at[4];  // two of row g, two of row g + 8
};

template <class T>
__device__ std::uint32_t pair_of(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  if constexpr (std::is_same_v<T, Bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return T(first).bits | std::uint32_t{T(second).bits} << 16;
#endif
}
template <class T>
__device__ float number_of(std::uint32_t pair, int which) {
  T number;
  number.bits = static_cast<std::uint16_t>(pair >> 16 * which);
  return number;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define LETHE_MMA(dtype)                                                                                     \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." dtype "." dtype                                               \
      ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                           \
      : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3])                               \
      : "r"(left.pairs[0]), "r"(left.pairs[1]), "r"(left.pairs[2]), "r"(left.pairs[3]), "r"(right.pairs[0]), \
        "r"(right.pairs[1]))
#endif

/// sums += left right, by all lanes of a warp at once. Where there is no such instruction (GPUs before 8.0, and the
/// host) lanes tell each other what they have.
template <class T>
__device__ void add_product(SumTile& sums, const LeftTile& left, const RightTile& right) {
#ifdef LETHE_MMA
  if constexpr (std::is_same_v<T, Bf16>)
    LETHE_MMA("bf16");
  else
    LETHE_MMA("f16");
#else
  __shared__ float lefts[32 * kWarps][8], rights[32 * kWarps][4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x - lane;
  for (int i = 0; i < 8; ++i) lefts[threadIdx.x][i] = number_of<T>(left.pairs[i / 2], i % 2);
  for (int i = 0; i < 4; ++i) rights[threadIdx.x][i] = number_of<T>(right.pairs[i / 2], i % 2);
  __syncwarp();
  for (unsigned t = 0; t < 4; ++t)  // the lanes that have a row, or a column
    for (int i = 0; i < 4; ++i) {
      const float *const a = lefts[warp + lane / 4 * 4 + t] + i / 2 * 2,
                         *const b = rights[warp + lane % 4 * 8 + i % 2 * 4 + t];
      for (int j = 0; j < 4; ++j) sums.at[i] += a[j / 2 * 4 + j % 2] * b[j];
    }
  __syncwarp();
#endif
}
#undef LETHE_MMA

}  // namespace lethe
#endif
