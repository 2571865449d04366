// What kernels need of CUDA's language, under nvcc or, with LETHE_SIMT, on the host (tests/simt/simt_launch.h). With
// LETHE_PLANS_ONLY there are the words alone: kernels are never instantiated, and LETHE_LAUNCH fails.
#pragma once
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
/// Launches a kernel on a stream and fails with the runtime's words if that is refused.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream, A&&... args) {
  kernel<<<grid, block, shared, stream>>>(static_cast<P>(args)...);
  const cudaError_t error = cudaGetLastError();
  check_as(Exit::Device, error == cudaSuccess, "kernel launch: ", cudaGetErrorString(error));
}
}  // namespace lethe
#elif defined(LETHE_SIMT)
#include "tests/simt/simt_launch.h"
#else
#include "kernels/cuda/plans_only.h"
#endif
