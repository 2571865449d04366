// Gradients of a norm of rows on a GPU whose teams hold their rows: each thread sums for weight and bias what it holds
// of the rows of its team, and a block adds these up. So x and dy are read once.
#pragma once
#include <algorithm>
#include <array>

#include "kernels/each_device.h"
#include "kernels/reduce/held_block.h"
#include "kernels/reduce/plan.h"
#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/terms.h"

namespace lethe {

/// Pieces that the rows are cut into; 0: no team holds one.
template <class T, int K>
std::int64_t pieces_of_held(Cpu, const SumExtent&) {
  return 0;
}

#ifdef LETHE_DEVICE_CODE
template <class C, int V, int K>
struct HeldSums {
  C sums[HeldTeam::kHeld][V][K] = {};
  template <class F>
  __device__ void add(HeldIndex i, const F& terms) {
    for (int v = 0; v < V; ++v) {
      const std::array<C, K> of = terms(v);
      for (int k = 0; k < K; ++k) sums[i.at][v][k] += of[k];
    }
  }
};

/// A block has no more threads: with more, a thread would have too few registers for its sums.
inline constexpr unsigned kMostNormThreads = 256;

/// Each block sums a piece of the rows, in shared memory; its teams have `threads` threads each.
template <class F>
__global__ void __launch_bounds__(kMostNormThreads)
    norm_grads_kernel(std::int64_t rows, unsigned threads, F f, typename F::C* sums) {
  using C = typename F::C;
  constexpr int K = F::kTerms;
  LETHE_DYN_SHARED(C, shared);
  const unsigned teams = blockDim.x / threads, team = threadIdx.x / threads;
  in_packs<typename F::Element, HeldTeam>(f.length, [&](auto V) {
    HeldSums<C, V, K> own;
    // All teams go through as many rounds, since they meet in each.
    for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < rows;
         first += std::int64_t{gridDim.x} * teams) {
      const std::int64_t row = first + team;
      f.template run<V>(HeldTeam(threads, row < rows), row < rows ? row : rows - 1, own);
    }
    for (unsigned turn = 0; turn < teams; ++turn) {
      if (turn == team)
        HeldTeam(threads, true).each(f.length / V, [&](HeldIndex i) {
          for (int v = 0; v < V; ++v)
            for (int k = 0; k < K; ++k) {
              C& sum = shared[k * f.length + std::int64_t{i} * V + v];
              sum = turn == 0 ? own.sums[i.at][v][k] : sum + own.sums[i.at][v][k];
            }
        });
      __syncthreads();
    }
  });
  for (std::int64_t i = threadIdx.x; i < K * f.length; i += blockDim.x)
    sums[std::int64_t{blockIdx.x} * K * f.length + i] = shared[i];
}

/// A block takes 16 rows at least, so that the sums which it writes are few beside them. There are two blocks for each
/// processor of a large GPU at most, or more so that no thread adds more than kRun numbers.
template <class T, int K>
std::int64_t pieces_of_held(Cuda, const SumExtent& extent) {
  constexpr std::int64_t kFewest = 16, kMostShared = 40 << 10;
  const std::int64_t packs = extent.inner / together<T>(extent.inner), rows = extent.middle;
  const auto bytes = static_cast<std::int64_t>(K * sizeof(Compute<T>)) * extent.inner;
  const HeldBlock held(packs, true);
  if (!HeldTeam::can_hold(packs) || held.threads > kMostNormThreads || bytes > kMostShared) return 0;
  const std::int64_t most = kRun * held.teams();
  return std::max((rows + most - 1) / most, std::min<std::int64_t>(2 * kProcessors, (rows + kFewest - 1) / kFewest));
}

template <class F>
void launch_norm_grads(void* stream, std::int64_t rows, std::int64_t pieces, const F& f, typename F::C* sums) {
  const HeldBlock held(f.packs(), true);
  LETHE_LAUNCH(norm_grads_kernel<F>, dim3(static_cast<unsigned>(pieces)), dim3(held.threads),
               static_cast<std::size_t>(F::kTerms * f.length) * sizeof(typename F::C),
               static_cast<cudaStream_t>(stream), rows, held.team, f, sums);
}
#endif

}  // namespace lethe
