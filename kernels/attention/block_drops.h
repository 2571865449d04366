// Dropout of shares on tensor cores: those of 16 positions by 8, as a lane has them of a sum, get their factors m
// (kept_shares.h).
#pragma once
#include "kernels/attention/kept_shares.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Of 16 rows from one among those of all samples on, by 8 keys from a multiple of 4 on.
__device__ inline void drop_shares(const KeptShares& kept, std::int64_t row, int key, SumTile& shares) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int r = 0; r < 2; ++r) {
    float m[4];
    kept.factors_of(row + lane / 4 + 8 * r, (key + 2 * (lane % 4)) / 4, m);
    for (int i = 0; i < 2; ++i) shares.at[2 * r + i] *= lane % 2 == 0 ? m[i] : m[2 + i];
  }
}

/// Of 16 keys from a multiple of 4 on, by 8 rows. Of four keys and two rows four lanes have one key each; each draws
/// for one of its four numbers and tells the others of theirs.
__device__ inline void drop_turned(const KeptShares& kept, std::int64_t row, int key, SumTile& shares) {
  const int lane = static_cast<int>(threadIdx.x % 32), own = lane / 4 % 4;
  float of_four[4];
  kept.factors_of(row + 2 * (lane % 4) + own % 2, (key + lane / 16 * 4 + own / 2 * 8) / 4, of_four);
  for (int bits = 0; bits < 4; ++bits) {
    float told = of_four[0];
    for (int i = 1; i < 4; ++i) told = i == (own ^ bits) ? of_four[i] : told;
    const float heard = __shfl_xor_sync(0xffffffffu, told, 4 * bits);
    for (int i = 0; i < 4; ++i) shares.at[i] *= i == (own ^ bits) ? heard : 1.0F;
  }
}

}  // namespace lethe
#endif
