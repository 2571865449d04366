// Rows of a matrix on a GPU: each is a block's, whose threads sum it and find its largest together; a row that a team
// of threads can hold in registers (held_rows_cuda.h) is read once.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/reduce/held_rows_cuda.h"
#include "kernels/reduce/terms.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// A block of whole warps. Every thread takes part in every call and gets its result.
class BlockTeam {
 public:
  template <class F>
  __device__ double sum(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(std::int64_t{}))>;
    const std::int64_t stride = blockDim.x;
    std::int64_t i = threadIdx.x, left = i < n ? (n - i + stride - 1) / stride : 0;
    double total = 0;
    while (left > 0) {
      T run{};
      std::int64_t here = left < kRun ? left : kRun;
      left -= here;
      for (; here >= 4; here -= 4, i += 4 * stride) {  // four at a time: none waits for another's memory
        const T four[] = {f(i), f(i + stride), f(i + 2 * stride), f(i + 3 * stride)};
        for (const T value : four) run += value;
      }
      for (; here > 0; --here, i += stride) run += f(i);
      total += static_cast<double>(run);
    }
    return fold(total, [](double a, double b) { return a + b; });
  }
  template <class F>
  __device__ auto max(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(std::int64_t{}))>;
    T most = -std::numeric_limits<T>::infinity();
    each(n, [&](std::int64_t i) {
      const T value = f(i);
      most = value > most ? value : most;
    });
    return static_cast<T>(fold(static_cast<double>(most), [](double a, double b) { return b > a ? b : a; }));
  }
  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) f(i);
  }
  __device__ bool leads() const { return threadIdx.x == 0; }
  /// The row is too long to be kept: it is read again.
  template <class Row>
  __device__ Row hold(std::int64_t, const Row& row) const {
    return row;
  }

 private:
  template <class Join>
  __device__ double fold(double value, const Join& join) const {
    __shared__ double of_warp[32];
    for (int lane = 16; lane > 0; lane /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lane));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) value = join(value, of_warp[warp]);
    __syncthreads();  // before the next call writes
    return value;
  }
};

inline constexpr unsigned kRowThreads = 256;

template <class F>
__global__ void for_each_row_kernel(std::int64_t rows, F f) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) f(BlockTeam{}, row);
}

template <class F>
void for_each_row(Cuda, void* stream, std::int64_t rows, std::int64_t length, const F& f) {
  if (rows == 0) return;
  std::int64_t items = length;
  if constexpr (requires { f.packs(); }) items = f.packs();
  if (HeldTeam::can_hold(items)) return for_each_held_row(stream, rows, items, f);
  LETHE_LAUNCH(for_each_row_kernel<F>, dim3(static_cast<unsigned>(std::min(rows, kMostBlocks))), dim3(kRowThreads), 0,
               static_cast<cudaStream_t>(stream), rows, f);
}

}  // namespace lethe
#endif
