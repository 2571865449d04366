// dy . y of each row, by blocks (blocks.h): 8 or 16 lanes have a row, each 8 numbers of it.
#pragma once
#include "kernels/attention/blocks.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

template <class T, int Size>
struct BlockDelta {
  using Number = T;
  static constexpr int kBlocks = 8, kShared = 0, kLanes = Size <= 64 ? 8 : 16;
  Heads<const T> y, dy;
  std::int64_t heads;
  float* delta;
  bool packs;

  __device__ void operator()(T*, std::int64_t sample, std::int64_t head, int block) const {
    const int d = static_cast<int>(threadIdx.x) % kLanes * 8, first = block + static_cast<int>(threadIdx.x) / kLanes;
    LETHE_UNROLL
    for (int i = 0; i < kBlockRows; i += 32 * kWarps / kLanes) {
      const int row = first + i;
      float sum = 0;
      if (row < y.positions && d < y.size) {
        const Pack<T, 8> of_y = numbers_of(y.at(sample, row, head), d), of_dy = numbers_of(dy.at(sample, row, head), d);
        for (int j = 0; j < 8; ++j) sum += compute(of_y[j]) * compute(of_dy[j]);
      }
      for (int lanes = 1; lanes < kLanes; lanes *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
      if (row < y.positions && d == 0) delta[(sample * heads + head) * y.positions + row] = sum;
    }
  }

 private:
  /// Eight from d on; zeros after the last.
  __device__ Pack<T, 8> numbers_of(const T* row, int d) const {
    if (packs) return load_pack<8>(row + d);
    Pack<T, 8> numbers;
    for (int j = 0; j < 8; ++j) numbers.at[j].bits = d + j < y.size ? row[d + j].bits : 0;
    return numbers;
  }
};

}  // namespace lethe
#endif
