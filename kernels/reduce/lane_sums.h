// Sums that a CPU's thread and a GPU's warp give to the same bit: there are as many as a warp's threads have in a pack
// each, interleaved, and at the end they are folded in halves.
#pragma once
#include "kernels/group.h"
#include "kernels/packs.h"

namespace lethe {

inline constexpr int kLanes = 32;

/// A CPU thread, for all lanes.
struct AllLanes {
  /// add(add(0, x[0]), ...) of n elements, in f64.
  template <class Add, class T>
  HD double sum(const T* x, std::int64_t n, const Add& add) const {
    constexpr int kSums = kLanes * kPack<T>;
    double sums[kSums] = {};
    for (; n >= kSums; n -= kSums, x += kSums)
      for (int k = 0; k < kSums; ++k) sums[k] = add(sums[k], x[k]);
    for (int k = 0; k < n; ++k) sums[k] = add(sums[k], x[k]);
    for (int half = kSums / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
    return sums[0];
  }
  HD bool leads() const { return true; }
};

template <class F>
void for_each_warp(Cpu device, void* stream, std::int64_t n, const F& f, std::int64_t grain = 1) {
  parallel_for(
      device, stream, n, [f](std::int64_t i) { f(AllLanes{}, i); }, grain);
}

#ifdef LETHE_DEVICE_CODE
/// A lane of a GPU's warp; all of them take part in a sum and get it.
struct OneLane {
  template <class Add, class T>
  __device__ double sum(const T* x, std::int64_t n, const Add& add) const {
    constexpr int V = kPack<T>;
    double sums[V] = {};
    const bool packed = reinterpret_cast<std::uintptr_t>(x) % kPackBytes == 0;
    constexpr std::int64_t kStep = kLanes * V, kAhead = 4;  // packs on the way at once
    std::int64_t i = threadIdx.x % kLanes * V;
    for (; packed && i + (kAhead - 1) * kStep + V <= n; i += kAhead * kStep) {
      Pack<T, V> values[kAhead];
      for (int k = 0; k < kAhead; ++k) values[k] = load_pack<V>(x + i + k * kStep);
      for (int k = 0; k < kAhead; ++k)
        for (int v = 0; v < V; ++v) sums[v] = add(sums[v], values[k][v]);
    }
    for (; i < n; i += kStep)
      for (int v = 0; v < V; ++v)
        if (i + v < n) sums[v] = add(sums[v], x[i + v]);
    for (int lanes = kLanes / 2; lanes > 0; lanes /= 2)
      for (int v = 0; v < V; ++v) sums[v] += __shfl_xor_sync(0xffffffffu, sums[v], lanes);
    for (int half = V / 2; half > 0; half /= 2)
      for (int v = 0; v < half; ++v) sums[v] += sums[v + half];
    return sums[0];
  }
  __device__ bool leads() const { return threadIdx.x % kLanes == 0; }
};
/// Lane i % kLanes of warp i / kLanes.
template <class F>
struct LaneIndex {
  F f;
  __device__ void operator()(std::int64_t i) const { f(OneLane{}, i / kLanes); }
};
static_assert(kElementThreads % kLanes == 0, "a warp's threads are lanes of one");

template <class F>
void for_each_warp(Cuda device, void* stream, std::int64_t n, const F& f, std::int64_t = 1) {
  parallel_for(device, stream, n * kLanes, LaneIndex<F>{f});
}
#endif

/// for_each_warp() of many functors: on a GPU as many in a launch as it takes. What was added is done after flush().
template <class Device, class F>
class WarpLaunches {
 public:
  WarpLaunches(void* stream, std::int64_t grain) : stream_(stream), grain_(grain) {}
  void add(std::int64_t n, const F& f) { for_each_warp(Device{}, stream_, n, f, grain_); }
  void flush() {}

 private:
  void* stream_;
  std::int64_t grain_;
};
#ifdef LETHE_DEVICE_CODE
template <class F>
class WarpLaunches<Cuda, F> {
 public:
  WarpLaunches(void* stream, std::int64_t) : launches_(stream) {}
  void add(std::int64_t n, const F& f) { launches_.add(n * kLanes, {f}); }
  void flush() { launches_.flush(); }

 private:
  GroupedLaunches<LaneIndex<F>> launches_;
};
#endif

}  // namespace lethe
