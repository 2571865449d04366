// Rows of a matrix on a GPU: a team of threads has one, which holds it if it can.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/each_device.h"
#include "kernels/reduce/block_team.h"
#include "kernels/reduce/held_block.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// A block has one row, or as many as there are teams in its warps.
template <class F>
__global__ void __launch_bounds__(HeldTeam::kMostThreads)
    for_each_held_row_kernel(std::int64_t rows, unsigned threads, F f) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / threads;
  f(HeldTeam(threads, row < rows), row < rows ? row : rows - 1);
}
template <class F>
void for_each_held_row(void* stream, std::int64_t rows, std::int64_t packs, const F& f) {
  const HeldBlock held(
      packs, requires { requires F::kSameSteps; });
  LETHE_LAUNCH(for_each_held_row_kernel<F>, dim3(static_cast<unsigned>((rows + held.teams() - 1) / held.teams())),
               dim3(held.threads), 0, static_cast<cudaStream_t>(stream), rows, held.team, f);
}

inline constexpr unsigned kRowThreads = 256;

template <class F>
__global__ void for_each_row_kernel(std::int64_t rows, F f) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) f(BlockTeam{}, row);
}

template <class F>
__global__ void __launch_bounds__(SharedTeam::kThreads) for_each_shared_row_kernel(std::int64_t rows, F f) {
  LETHE_DYN_SHARED(unsigned char, memory);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) f(SharedTeam(memory), row);
}

/// What a team holds or sums of a row of f.
template <class F>
std::int64_t items_of(const F& f, std::int64_t length) {
  if constexpr (requires { f.packs(); }) return f.packs();
  return length;
}
/// Whether a block keeps its row in shared memory: one that it holds once, of f.row_bytes().
template <class F>
bool is_shared(const F& f) {
  if constexpr (requires { f.row_bytes(); }) return f.row_bytes() <= SharedTeam::kMost;
  return false;
}
/// Whether a row that f holds is read once.
template <class F>
bool reads_once(Cuda, const F& f, std::int64_t length) {
  return HeldTeam::can_hold(items_of(f, length)) || is_shared(f);
}

template <class F>
void for_each_row(Cuda, void* stream, std::int64_t rows, std::int64_t length, const F& f) {
  if (rows == 0) return;
  const std::int64_t items = items_of(f, length);
  if (HeldTeam::can_hold(items)) return for_each_held_row(stream, rows, items, f);
  const dim3 blocks(static_cast<unsigned>(std::min(rows, kMostBlocks)));
  if constexpr (requires { f.row_bytes(); })
    if (is_shared(f)) {
      LETHE_LAUNCH(for_each_shared_row_kernel<F>, blocks, dim3(SharedTeam::kThreads),
                   static_cast<std::size_t>(f.row_bytes()), static_cast<cudaStream_t>(stream), rows, f);
      return;
    }
  LETHE_LAUNCH(for_each_row_kernel<F>, blocks, dim3(kRowThreads), 0, static_cast<cudaStream_t>(stream), rows, f);
}

}  // namespace lethe
#endif
