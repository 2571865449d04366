// CUDA's language as host code, for tests: kernels/simt.h includes this in nvcc's stead when LETHE_SIMT is defined.
// Blocks run one after the other, the threads of a block as in tests/simt/fibers.h. Not covered: races between blocks,
// the memory model, and reads of shared memory declared in a kernel (not dynamic) before it was written.
#pragma once
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

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
template <class T>
T __ldg(const T* from) {
  return *from;
}

namespace lethe {
namespace simt {

/// Where launches go: they run at once, but where a simulated GPU takes them (tests/simulated).
inline std::function<void(cudaStream_t, std::function<void()>)> submit =
    [](cudaStream_t, const std::function<void()>& blocks) { blocks(); };

/// Fails as CUDA does over a launch that no GPU takes.
void check_launch(dim3 grid, dim3 block, std::size_t shared, std::size_t parameters);

}  // namespace simt

/// Runs the kernel to its end, or hands it over: what it was given is copied, as CUDA does.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, A&&... args) {
  simt::check_launch(grid, block, shared, (sizeof(P) + ... + 0));
  simt::submit(stream, [=, parameters = std::tuple<P...>(static_cast<P>(args)...)] {
    gridDim = grid;
    blockDim = block;
    const unsigned blocks = grid.x * grid.y * grid.z, threads = block.x * block.y * block.z;
    for (unsigned i = 0; i < blocks; ++i) {
      const unsigned b = simt::order == simt::Order::Forward ? i : blocks - 1 - i;
      blockIdx = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
      simt::Block::current().run(threads, shared, simt::order, [&](unsigned t) {
        threadIdx = {t % block.x, t / block.x % block.y, t / block.x / block.y};
        std::apply(kernel, parameters);
      });
    }
  });
}

}  // namespace lethe
