// Copies into a block's shared memory that go on while its threads work (cp.async).
#pragma once
#include <cstring>

#include "kernels/device_code.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Starts a copy of 16 or 4 bytes into shared memory: of the first `count` of them, and zeros for the rest.
template <int Bytes>
__device__ void copy_later(void* to, const void* from, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(count) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(count) : "memory");
#else
#ifdef LETHE_SIMT
  simt::expect_aligned(to, Bytes);
  if (count > 0) simt::expect_aligned(from, Bytes);
#endif
  std::memset(to, 0, Bytes);
  std::memcpy(to, from, static_cast<std::size_t>(count));
#endif
}
/// All that the block's threads have copied is there, and none of them still reads what it read until now.
__device__ inline void meet_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}

}  // namespace lethe
#endif
