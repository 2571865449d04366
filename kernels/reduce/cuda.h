// Sums on a GPU in one launch: neighbouring threads sum neighbouring elements, a block's lanes meet in shared memory,
// and the last block to finish adds up the pieces of its columns: in a fixed order, so the bits stay the same.
#pragma once
#include <algorithm>

#include "framework/error.h"
#include "kernels/each_device.h"
#include "kernels/packs.h"
#include "kernels/reduce/lanes.h"
#include "kernels/reduce/plan.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Two blocks for each processor of a large GPU, on any. A piece of less than a few rows a thread is not worth a block.
/// `dtype`: of what is summed.
inline SumPlan plan_sum(Cuda, const DeviceInfo&, const SumExtent& extent, DType dtype) {
  constexpr std::int64_t kBlocks = 2 * kProcessors, kRows = 8;
  const auto pack = static_cast<int>(kPackBytes / bytes_of(dtype));
  const int columns = extent.inner % pack == 0 ? pack : 1;
  const ColumnBlock block(extent.inner, columns);
  const std::int64_t worth = extent.middle / (block.lanes * kRows);
  const std::int64_t pieces = std::min({kBlocks / (extent.outer * block.blocks), worth, std::int64_t{kProcessors}});
  return {extent, std::max<std::int64_t>(1, pieces), columns};
}

/// Columns [first, end) of one outer index: adds the pieces up and hands the sums on.
template <int K, class Finish>
__device__ void finish_columns(const SumPlan& plan, const double* partial, std::int64_t outer, std::int64_t first,
                               std::int64_t end, double* shared, const Finish& finish) {
  const Lanes lanes(end - first);
  const std::int64_t column = first + lanes.column();
  std::array<double, K> sums{};
  for (std::int64_t piece = lanes.lane(); piece < plan.pieces && lanes.is_one(); piece += lanes.count())
    for (int k = 0; k < K; ++k) sums[k] += __ldcg(partial + plan.place(outer * plan.pieces + piece, k, K, column));
  lanes.fold(shared, sums);
  if (lanes.lane() == 0) finish(outer, column, sums);
}

/// Grid: x blocks of columns, y tasks (outer index and piece), one a block where there are several pieces. Shared
/// memory: V * K doubles a thread, or what the columns' values take if that is more.
template <int V, int K, class Columns, class F, class Finish>
__global__ void sum_kernel(SumPlan plan, double* partial, unsigned* tickets, Columns columns, F f, Finish finish) {
  LETHE_DYN_SHARED(double, shared);
  const SumExtent extent = plan.extent;
  const ColumnBlock block(extent.inner, V);
  const Lanes lanes(block.width);
  const std::int64_t first = blockIdx.x * block.width * V, end = block.end(blockIdx.x, V, extent.inner);
  const std::int64_t column = first + lanes.column() * V;
  const bool sums_here = lanes.is_one() && column < end;
  ValuesOf<Columns> values[V];
  read_values(columns, first, end, column, shared, values);
  for (std::int64_t task = blockIdx.y; task < extent.outer * plan.pieces; task += gridDim.y) {
    const std::int64_t outer = task / plan.pieces, piece = task % plan.pieces;
    const std::int64_t row = plan.first_row(piece) + lanes.lane(), last = plan.first_row(piece + 1);
    std::array<double, V * K> total{};
    if (sums_here && row < last) {
      PackSums<V, K, Columns, F> sums(f, values);
      sums.add(row, (last - row + lanes.count() - 1) / lanes.count(), lanes.count(),
               (outer * extent.middle + row) * extent.inner + column, extent.inner);
      total = sums.total;
    }
    lanes.fold(shared, total);
    for (int v = 0; v < V && sums_here && lanes.lane() == 0; ++v) {
      std::array<double, K> sums{};
      for (int k = 0; k < K; ++k) sums[k] = total[v * K + k];
      store_sums<K>(plan, task, column + v, sums, partial, finish);
    }
    if (plan.pieces > 1 && comes_last(tickets + outer * gridDim.x + blockIdx.x, static_cast<unsigned>(plan.pieces)))
      finish_columns<K>(plan, partial, outer, first, end, shared, finish);
  }
}

template <int V, int K, class Columns, class F, class Finish>
void launch_sums(const KernelArgs& args, const SumPlan& plan, const Columns& columns, const F& f,
                 const Finish& finish) {
  constexpr std::int64_t kMostY = 65535;  // CUDA's limit
  const ColumnBlock block(plan.extent.inner, V);
  const std::int64_t y = std::min(kMostY, plan.extent.outer * plan.pieces);
  const bool has_tickets = args.tickets && plan.extent.outer * block.blocks <= kTickets;
  check_as(Exit::Internal, plan.pieces == 1 || has_tickets, "a sum lacks tickets");
  LETHE_LAUNCH((sum_kernel<V, K, Columns, F, Finish>),
               dim3(static_cast<unsigned>(block.blocks), static_cast<unsigned>(y)), dim3(ColumnBlock::kThreads),
               std::max(V * K * ColumnBlock::kThreads * sizeof(double), values_bytes<V, Columns>(block)),
               static_cast<cudaStream_t>(args.stream), plan, static_cast<double*>(args.workspace), args.tickets,
               columns, f, finish);
}

template <class Columns, class F, class Finish>
void sum_middle(Cuda, const KernelArgs& args, const SumPlan& plan, const Columns& columns, const F& f,
                const Finish& finish) {
  constexpr int K = kTerms<F, Columns>;
  if constexpr (ReadsPacks<F>)
    if (plan.columns == F::kElements && f.can_pack())
      return launch_sums<F::kElements, K>(args, plan, columns, f, finish);
  launch_sums<1, K>(args, plan, columns, f, finish);
}

}  // namespace lethe
#endif
