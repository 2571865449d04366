// Rows that a team of threads holds in registers, on a GPU: read once, at full width, whatever is then computed of
// them. A team has the threads of a part of a warp, of a warp, or of a block; rows up to 128 packs need no barrier.
#pragma once
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "kernels/low_floats.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

struct HeldIndex {
  int number, at;  // of a pack in its row, and among its thread's
  __device__ operator std::int64_t() const { return number; }
};

class HeldTeam {
 public:
  static constexpr bool kTakesPacks = true, kHolds = true;
  static constexpr int kHeld = 4, kMostThreads = 512;  // packs of a thread

  static bool can_hold(std::int64_t packs) { return packs <= kHeld * kMostThreads; }
  /// Threads for a row, a power of two: few packs each, as long as a warp is enough. Teams that share a warp meet in
  /// each sum: only where all rows take the same steps.
  static unsigned threads_for(std::int64_t packs, bool same_steps) {
    const std::int64_t least = same_steps ? 1 : 32, few = std::clamp<std::int64_t>(packs, least, 32);
    return std::bit_ceil(static_cast<unsigned>(std::max(few, (packs + kHeld - 1) / kHeld)));
  }

  /// One that has no row takes part in its warp's shuffles.
  __device__ HeldTeam(unsigned threads, bool has_row)
      : threads_(threads), index_(threadIdx.x & (threads - 1)), has_row_(has_row) {}

  template <class P>
  struct Row {
    P packs[kHeld];
    __device__ const P& operator[](HeldIndex i) const { return packs[i.at]; }
  };
  template <class R>
  __device__ auto hold(std::int64_t n, const R& row) const {
    Row<std::remove_cvref_t<decltype(row[0])>> held;
    each(n, [&](HeldIndex i) { held.packs[i.at] = row[i]; });
    return held;
  }
  template <class F>
  __device__ void each(std::int64_t n, const F& f) const {
    const int count = has_row_ ? static_cast<int>(n) : 0;
    for (int k = 0; k < kHeld; ++k)
      if (const HeldIndex i{static_cast<int>(index_ + threads_ * k), k}; i.number < count) f(i);
  }
  /// In the type that f gives: a thread adds few, and then threads in pairs.
  template <class F>
  __device__ auto sum(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(HeldIndex{}))>;
    T total{};
    each(n, [&](HeldIndex i) { total += f(i); });
    return fold(total, [](T a, T b) { return a + b; });
  }
  template <class F>
  __device__ auto max(std::int64_t n, const F& f) const {
    using T = Compute<decltype(f(HeldIndex{}))>;
    T most = -std::numeric_limits<T>::infinity();
    each(n, [&](HeldIndex i) {
      const T value = f(i);
      most = value > most ? value : most;
    });
    return fold(most, [](T a, T b) { return b > a ? b : a; });
  }
  __device__ bool leads() const { return has_row_ && index_ == 0; }

 private:
  template <class T, class Join>
  __device__ T fold(T value, const Join& join) const {
    if (threads_ <= 32) return fold_lanes(value, threads_, join);
    __shared__ T of_warp[kMostThreads / 32];
    const unsigned warps = threads_ / 32;
    value = fold_lanes(value, 32, join);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = fold_lanes(of_warp[threadIdx.x % warps], warps, join);
    __syncthreads();  // before the next call writes
    return value;
  }
  /// Over each `count` neighbouring lanes, once all have read.
  template <class T, class Join>
  __device__ static T fold_lanes(T value, unsigned count, const Join& join) {
    __syncwarp();
    for (unsigned lane = count / 2; lane > 0; lane /= 2)
      value = join(value, __shfl_xor_sync(0xffffffffu, value, static_cast<int>(lane)));
    return value;
  }

  unsigned threads_, index_;
  bool has_row_;
};

}  // namespace lethe
#endif
