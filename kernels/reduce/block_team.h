// A GPU's block whose row is too long for the registers of its threads (held_team.h): it keeps it in shared memory, or
// each sum reads it again.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/device_code.h"
#include "kernels/reduce/terms.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// A block of whole warps. Every thread takes part in every call and gets its result.
class BlockTeam {
 public:
  static constexpr bool kTakesPacks = true, kHolds = false;
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
      if (const T value = f(i); value > most) most = value;
    });
    return static_cast<T>(fold(static_cast<double>(most), [](double a, double b) { return b > a ? b : a; }));
  }
  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) f(i);
  }
  __device__ bool leads() const { return threadIdx.x == 0; }
  template <class Row>
  __device__ Row hold(std::int64_t, const Row& row) const {
    return row;
  }

 private:
  __device__ static double* of_warps() {  // for all sums and maxima: a template would have its own for each
    __shared__ double of_warp[32];
    return of_warp;
  }
  template <class Join>
  __device__ double fold(double value, const Join& join) const {
    double* const of_warp = of_warps();
    for (int lane = 16; lane > 0; lane /= 2) value = join(value, __shfl_xor_sync(0xffffffffu, value, lane));
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (unsigned warp = 1; warp < blockDim.x / 32; ++warp) value = join(value, of_warp[warp]);
    __syncthreads();  // before the next call writes
    return value;
  }
};

/// One that keeps the row in shared memory. A thread reads there what it has put there itself alone, so none waits.
class SharedTeam : public BlockTeam {
 public:
  static constexpr bool kHolds = true;
  static constexpr unsigned kThreads = 512;
  // Bytes of a row: what a GPU of capability 8.0 or more has for a block at least, less what sums take.
  static constexpr std::int64_t kMost = (99 << 10) - 512;
  __device__ explicit SharedTeam(unsigned char* memory) : memory_(memory) {}
  template <class Row>
  __device__ auto* hold(std::int64_t n, const Row& row) const {
    auto* const kept = reinterpret_cast<std::remove_cvref_t<decltype(row[0])>*>(memory_);
    std::int64_t i = threadIdx.x, stride = blockDim.x;
    for (; i + 3 * stride < n; i += 4 * stride) {  // as in a sum
      const std::array four = {row[i], row[i + stride], row[i + 2 * stride], row[i + 3 * stride]};
      for (int k = 0; k < 4; ++k) kept[i + k * stride] = four[k];
    }
    for (; i < n; i += stride) kept[i] = row[i];
    return kept;
  }

 private:
  unsigned char* memory_;
};

}  // namespace lethe
#endif
