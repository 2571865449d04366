// The GPU's part of kernels/reduce.h: neighbouring threads sum neighbouring elements, a block's lanes meet in shared
// memory, pieces in the workspace. No atomics: the same bits every time.
#pragma once
#include "kernels/reduce_plan.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Threads of a block: `lanes` rows of `width` columns at a time.
struct SumBlock {
  static constexpr std::int64_t kThreads = 256;
  std::int64_t width, lanes;
  HD explicit SumBlock(std::int64_t inner) : width(inner < kThreads ? inner : kThreads), lanes(kThreads / width) {}
};

/// The same on every GPU, whatever its size: enough blocks to fill a large one.
inline SumPlan plan_sum(Cuda, const DeviceInfo&, const SumExtent& extent) {
  constexpr std::int64_t kBlocks = 512;
  const SumBlock block(extent.inner);
  const std::int64_t beside = extent.outer * ((extent.inner + block.width - 1) / block.width);
  const std::int64_t worth = extent.middle / (block.lanes * 8);
  return {extent, std::max<std::int64_t>(1, std::min(kBlocks / beside, worth))};
}

/// Grid: x blocks of columns, y tasks (outer index and piece). Shared memory: K doubles a thread.
template <int K, class T, std::size_t P, class F, class Finish>
__global__ void sum_pieces_kernel(SumPlan plan, double* partial, Columns<T, P> columns, F f, Finish finish) {
  LETHE_DYN_SHARED(double, shared);
  const SumExtent extent = plan.extent;
  const SumBlock block(extent.inner);
  const std::int64_t lane = threadIdx.x / block.width, j = threadIdx.x % block.width;
  const std::int64_t column = blockIdx.x * block.width + j;
  const bool sums_here = lane < block.lanes && column < extent.inner;
  for (std::int64_t task = blockIdx.y; task < extent.outer * plan.pieces; task += gridDim.y) {
    const std::int64_t outer = task / plan.pieces, piece = task % plan.pieces;
    std::array<double, K> total{};
    if (sums_here) {
      const std::array<Compute<T>, P> values = values_at(columns, column);
      const std::int64_t last = plan.first_row(piece + 1);
      for (std::int64_t row = plan.first_row(piece) + lane; row < last;) {
        std::array<Compute<T>, K> run{};
        for (int n = 0; n < kRun && row < last; ++n, row += block.lanes) {
          const auto terms = terms_at<F, T, P>(f, row, (outer * extent.middle + row) * extent.inner + column, values);
          for (int k = 0; k < K; ++k) run[k] += terms[k];
        }
        for (int k = 0; k < K; ++k) total[k] += static_cast<double>(run[k]);
      }
    }
    for (int k = 0; k < K; ++k) shared[k * SumBlock::kThreads + threadIdx.x] = total[k];
    __syncthreads();
    if (sums_here && lane == 0) {
      for (int k = 0; k < K; ++k)
        for (std::int64_t l = 1; l < block.lanes; ++l) total[k] += shared[k * SumBlock::kThreads + l * block.width + j];
      store_sums<K>(plan, task, column, total, partial, finish);
    }
    __syncthreads();
  }
}

template <int K, class T, std::size_t P, class F, class Finish>
void sum_pieces(Cuda, void* stream, const SumPlan& plan, double* partial, const Columns<T, P>& columns, const F& f,
                const Finish& finish) {
  constexpr std::int64_t kMostY = 65535;  // CUDA's limit
  const SumBlock block(plan.extent.inner);
  const std::int64_t x = (plan.extent.inner + block.width - 1) / block.width;
  const std::int64_t y = std::min(kMostY, plan.extent.outer * plan.pieces);
  launch(sum_pieces_kernel<K, T, P, F, Finish>, dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)),
         dim3(SumBlock::kThreads), K * SumBlock::kThreads * sizeof(double), static_cast<cudaStream_t>(stream), plan,
         partial, columns, f, finish);
}

}  // namespace lethe
#endif
