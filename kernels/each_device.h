// One source, two devices: a functor over indices is launched by parallel_for on a Cpu or Cuda tag.
#pragma once
#include <cstdint>
#include <memory>

#include "framework/language/kernel.h"
#include "kernels/cpu/parallel.h"
#include "kernels/device_code.h"

namespace lethe {

struct Cpu {};
struct Cuda {};

/// f(i) for i in [begin, end) by this thread. Not inlined: the loop is compiled once, whoever cuts the range out.
template <class F>
[[gnu::noinline]] void run_range(F f, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) f(i);
}

/// Calls f(i) for every i in [0, n), in no order. `grain`: how many of them are worth a CPU thread.
template <class F>
void parallel_for(Cpu, void*, std::int64_t n, F f, std::int64_t grain = kElementGrain) {
  parallel_ranges(n, grain, [&](std::int64_t begin, std::int64_t end) { run_range(f, begin, end); });
}

#ifdef LETHE_DEVICE_CODE
template <class F>
__global__ void for_each_index(std::int64_t n, F f) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

// Grids are the same on every GPU, whatever its size, and fill a large one.
inline constexpr std::int64_t kProcessors = 132;
inline constexpr std::int64_t kMostBlocks = 16 * kProcessors;
inline constexpr unsigned kElementThreads = 256;  // of a block
/// Blocks for n elements: one each thread, or as many as a large GPU runs at once.
inline dim3 element_blocks(std::int64_t n) {
  const std::int64_t blocks = (n + kElementThreads - 1) / kElementThreads;
  return dim3(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks));
}

template <class F>
void parallel_for(Cuda, void* stream, std::int64_t n, F f, std::int64_t = kElementGrain) {
  if (n == 0) return;
  LETHE_LAUNCH(for_each_index<F>, element_blocks(n), dim3(kElementThreads), 0, static_cast<cudaStream_t>(stream), n, f);
}
#endif

/// Kernels from a class with `template <class Device> static std::unique_ptr<Kernel> prepare(const PrepareArgs&)`.
template <class K>
constexpr Kernels each_device() {
#ifdef LETHE_DEVICE_CODE
  return {.cpu = K::template prepare<Cpu>, .cuda = K::template prepare<Cuda>};
#else
  return {.cpu = K::template prepare<Cpu>};
#endif
}

/// Kernels of libraries, which `prepare` chooses by the kind of the device.
constexpr Kernels library_kernels(PrepareKernel prepare) {
#ifdef LETHE_DEVICE_CODE
  return {.cpu = prepare, .cuda = prepare};
#else
  return {.cpu = prepare};
#endif
}

}  // namespace lethe
