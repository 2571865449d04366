// CUDA's language for kernels, by whoever compiles them. nvcc has it; with LETHE_SIMT a shim lets a C++ compiler run
// device code on the host, for tests; with LETHE_PLANS_ONLY it knows the words alone: it prepares kernels for a GPU,
// which plans need, instantiates none, and LETHE_LAUNCH counts or fails. In any of these cases LETHE_DEVICE_CODE is
// defined.
#pragma once
#include "kernels/hd.h"
#if defined(__CUDACC__) || defined(LETHE_SIMT) || defined(LETHE_PLANS_ONLY)
#define LETHE_DEVICE_CODE 1
#endif
#ifdef LETHE_DEVICE_CODE
#include "framework/language/launch_count.h"
#endif
#if defined(__CUDACC__) || defined(LETHE_SIMT)
#define LETHE_LAUNCH(kernel, ...) ::lethe::launch(kernel, __VA_ARGS__)
#endif
#if defined(__CUDACC__)
#include <cuda_runtime.h>

#include <cstddef>

#include "framework/error.h"
#define LETHE_DYN_SHARED(T, name)                                       \
  extern __shared__ __align__(16) unsigned char lethe_dynamic_shared[]; \
  T* name = reinterpret_cast<T*>(lethe_dynamic_shared)

namespace lethe {
/// Launches a kernel on a stream and fails with the runtime's words if that is refused; counts it in a LaunchCount.
/// A block has 48 KiB of shared memory unless its kernel asks for more: it does if what is left for its own is little.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, A&&... args) {
  constexpr std::size_t kUnasked = 40 << 10;
  if (LaunchCount::takes_launch()) return;
  if (shared > kUnasked)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  kernel<<<grid, block, shared, stream>>>(static_cast<P>(args)...);  // refused if the GPU has less
  const cudaError_t error = cudaGetLastError();
  check_as(Exit::Device, error == cudaSuccess, "kernel launch: ", cudaGetErrorString(error));
}
}  // namespace lethe
#elif defined(LETHE_SIMT)
#include "tests/simt/simt_launch.h"
#elif defined(LETHE_PLANS_ONLY)
#include "kernels/cuda/plans_only.h"
#endif
