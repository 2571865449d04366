// Sums on a GPU: neighbouring threads sum neighbouring elements, a block's lanes meet in shared memory, pieces in the
// workspace. No atomics: the same bits every time.
#pragma once
#include <algorithm>

#include "kernels/packs.h"
#include "kernels/reduce/plan.h"
#include "kernels/reduce/terms.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Threads of a block: `lanes` rows of `width` columns (or packs of them) at a time.
struct SumBlock {
  static constexpr std::int64_t kThreads = 256;
  std::int64_t width, lanes;
  HD explicit SumBlock(std::int64_t columns)
      : width(columns < kThreads ? columns : kThreads), lanes(kThreads / width) {}
};

/// The same on every GPU, whatever its size: enough blocks to fill a large one. `dtype`: of what is summed.
inline SumPlan plan_sum(Cuda, const DeviceInfo&, const SumExtent& extent, DType dtype) {
  constexpr std::int64_t kBlocks = 512;
  const auto pack = static_cast<int>(kPackBytes / bytes_of(dtype));
  const int columns = extent.inner % pack == 0 ? pack : 1;
  const std::int64_t packs = extent.inner / columns;
  const SumBlock block(packs);
  const std::int64_t beside = extent.outer * ((packs + block.width - 1) / block.width);
  const std::int64_t worth = extent.middle / (block.lanes * 8);
  return {extent, std::max<std::int64_t>(1, std::min(kBlocks / beside, worth)), columns};
}

/// Grid: x blocks of columns, y tasks (outer index and piece). Shared memory: V * K doubles a thread.
template <int V, int K, class T, std::size_t P, class F, class Finish>
__global__ void sum_pieces_kernel(SumPlan plan, double* partial, Columns<T, P> columns, F f, Finish finish) {
  LETHE_DYN_SHARED(double, shared);
  constexpr std::int64_t kThreads = SumBlock::kThreads;
  const SumExtent extent = plan.extent;
  const SumBlock block(extent.inner / V);
  const std::int64_t lane = threadIdx.x / block.width, j = threadIdx.x % block.width;
  const std::int64_t column = (blockIdx.x * block.width + j) * V;
  const bool sums_here = lane < block.lanes && column < extent.inner;
  for (std::int64_t task = blockIdx.y; task < extent.outer * plan.pieces; task += gridDim.y) {
    const std::int64_t outer = task / plan.pieces, piece = task % plan.pieces;
    const std::int64_t row = plan.first_row(piece) + lane, last = plan.first_row(piece + 1);
    if (sums_here) {
      PackSums<V, K, T, P, F> sums(f, columns, column);
      if (row < last)
        sums.add(row, (last - row + block.lanes - 1) / block.lanes, block.lanes,
                 (outer * extent.middle + row) * extent.inner + column, extent.inner);
      for (int v = 0; v < V; ++v)
        for (int k = 0; k < K; ++k) shared[(v * K + k) * kThreads + threadIdx.x] = sums.total[v][k];
    }
    __syncthreads();
    for (std::int64_t sum = threadIdx.x; sum < V * K * block.width; sum += kThreads) {  // over the lanes
      double* const at = shared + sum / block.width * kThreads + sum % block.width;
      for (std::int64_t l = 1; l < block.lanes; ++l) at[0] += at[l * block.width];
    }
    __syncthreads();
    for (int v = 0; v < V && sums_here && lane == 0; ++v) {
      std::array<double, K> sums{};
      for (int k = 0; k < K; ++k) sums[k] = shared[(v * K + k) * kThreads + j];
      store_sums<K>(plan, task, column + v, sums, partial, finish);
    }
    __syncthreads();
  }
}

template <int V, int K, class T, std::size_t P, class F, class Finish>
void launch_sums(void* stream, const SumPlan& plan, double* partial, const Columns<T, P>& columns, const F& f,
                 const Finish& finish) {
  constexpr std::int64_t kMostY = 65535;  // CUDA's limit
  const std::int64_t packs = plan.extent.inner / V;
  const SumBlock block(packs);
  const std::int64_t x = (packs + block.width - 1) / block.width;
  const std::int64_t y = std::min(kMostY, plan.extent.outer * plan.pieces);
  LETHE_LAUNCH((sum_pieces_kernel<V, K, T, P, F, Finish>), dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)),
               dim3(SumBlock::kThreads), V * K * SumBlock::kThreads * sizeof(double), static_cast<cudaStream_t>(stream),
               plan, partial, columns, f, finish);
}

template <int K, class T, std::size_t P, class F, class Finish>
void sum_pieces(Cuda, void* stream, const SumPlan& plan, double* partial, const Columns<T, P>& columns, const F& f,
                const Finish& finish) {
  if constexpr (ReadsPacks<F>)
    if (plan.columns == F::kElements && f.can_pack())
      return launch_sums<F::kElements, K>(stream, plan, partial, columns, f, finish);
  launch_sums<1, K>(stream, plan, partial, columns, f, finish);
}

}  // namespace lethe
#endif
