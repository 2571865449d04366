// CUDA's language as host code, for tests: the threads of a block run as in tests/simt/fibers.h. Not covered: races
// between blocks, the memory model, and reads of shared memory declared in a kernel (not dynamic) before it was
// written.
#pragma once
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/simt/fibers.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __grid_constant__
#define LETHE_DYN_SHARED(T, name) T* name = static_cast<T*>(::lethe::simt::Block::current().shared())

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
using cudaStream_t = void*;

inline uint3 blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace lethe::simt {

inline Order order = Order::Forward;  // of the launches to come

template <class T>
T shuffle(unsigned mask, T value, unsigned from) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  word = Block::current().exchange(mask, word, from);
  std::memcpy(&value, &word, sizeof value);
  return value;
}
inline unsigned lane() { return Block::current().thread() % 32; }

}  // namespace lethe::simt

inline void __syncthreads() { lethe::simt::Block::current().meet(false); }
inline int __syncthreads_or(int vote) { return lethe::simt::Block::current().meet(vote != 0); }
inline void __syncwarp(unsigned mask = ~0u) { lethe::simt::Block::current().ballot(mask, false); }
inline unsigned __ballot_sync(unsigned mask, int vote) { return lethe::simt::Block::current().ballot(mask, vote != 0); }
inline int __popc(unsigned bits) { return std::popcount(bits); }
template <class T>
T __shfl_sync(unsigned mask, T value, int from) {
  return lethe::simt::shuffle(mask, value, static_cast<unsigned>(from));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return lethe::simt::shuffle(mask, value, lethe::simt::lane() ^ bits);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by) {
  return lethe::simt::shuffle(mask, value, lethe::simt::lane() + by);
}
template <class T>
T atomicAdd(T* to, T value) {
  return std::atomic_ref<T>(*to).fetch_add(value);
}
inline void __threadfence() {}
template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
