// What the threads of a warp do together for attention: sums of weighted rows, each lane some numbers of them.
#pragma once
#include <algorithm>

#include "kernels/attention/heads.h"
#include "kernels/each_device.h"
#include "kernels/low_floats.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Numbers of a head that a warp sums in registers; more of them it sums in several parts, each with its scores anew.
inline constexpr std::int64_t kLaneNumbers = 8, kWarpNumbers = 32 * kLaneNumbers;

/// A lane's share of a part of a head: the numbers lane, lane + 32, ... of it.
template <class C>
struct LaneSums {
  std::int64_t first, count;  // of the lane's numbers, and of the part's from there
  C sums[kLaneNumbers] = {};
  __device__ LaneSums(std::int64_t lane, std::int64_t part, std::int64_t size)
      : first(part + lane), count(size - part - lane) {}
  template <class F>
  __device__ void each(const F& f) {
    for (int n = 0; n < kLaneNumbers; ++n)
      if (32 * n < count) f(sums[n], first + 32 * n);
  }
  template <class T>
  __device__ void add(C weight, const T* row) {
    each([=](C& sum, std::int64_t d) { sum += weight * row[d]; });
  }
  template <class T>
  __device__ void write(C factor, T* row) {
    each([=](const C& sum, std::int64_t d) { row[d] = sum * factor; });
  }
};

template <class T>
__device__ Compute<T> dot(const T* a, const T* b, std::int64_t size) {
  Compute<T> sum = 0;
  for (std::int64_t d = 0; d < size; ++d) sum += a[d] * b[d];
  return sum;
}
template <class C, class Join>
__device__ C over_lanes(C value, const Join& join) {
  for (int lane = 16; lane > 0; lane /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lane));
  return value;
}

/// One of `of` heads of a sample, and a position.
struct HeadPosition {
  std::int64_t sample, head, position;
  __device__ HeadPosition(std::int64_t i, std::int64_t of, std::int64_t positions)
      : sample(i / positions / of), head(i / positions % of), position(i % positions) {}
};

template <class F>
__global__ void for_each_warp_kernel(std::int64_t n, F f) {
  const std::int64_t warps = blockDim.x / 32;
  for (std::int64_t i = blockIdx.x * warps + threadIdx.x / 32; i < n; i += gridDim.x * warps) f(threadIdx.x % 32, i);
}
/// Calls f(lane, i) for every i < n, each in a warp of its own.
template <class F>
void for_each_warp(void* stream, std::int64_t n, const F& f) {
  const std::int64_t blocks = std::min((n + kWarps - 1) / kWarps, kMostBlocks);
  LETHE_LAUNCH(for_each_warp_kernel<F>, dim3(static_cast<unsigned>(blocks)), dim3(32 * kWarps), 0,
               static_cast<cudaStream_t>(stream), n, f);
}

}  // namespace lethe
#endif
