// The second half of a norm: f(i, values of column i % columns) for every element of a [rows, columns] matrix. The
// functor writes where it likes, in place too; f.pack<V>(i, values) does so for V elements of a row, values[k] being
// those of the k-th.
#pragma once
#include <algorithm>

#include "kernels/packs.h"
#include "kernels/reduce/lanes.h"
#include "kernels/reduce/terms.h"

namespace lethe {

template <class T, std::size_t P, class F>
void map_columns(Cpu, void*, std::int64_t rows, std::int64_t count, const Columns<T, P>& columns, const F& f) {
  const std::int64_t repeat = rows_as_one(count), width = count * repeat;
  const std::int64_t wide_rows = rows / repeat, grain = std::max<std::int64_t>(1, kElementGrain / width);
  const auto run = [&f](Columns<T, P> at, std::int64_t start, std::int64_t length) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < length; ++j) f(start + j, values_at(at, j));
  };
  parallel_ranges(wide_rows, grain, [&](std::int64_t begin, std::int64_t end) {
    const WideColumns<T, P> wide(columns, count, repeat);
    for (std::int64_t row = begin; row < end; ++row) run(wide.at(), row * width, width);
  });
  for (std::int64_t row = wide_rows * repeat; row < rows; ++row) run(columns, row * count, count);
}

#ifdef LETHE_DEVICE_CODE
/// Grid: x blocks of columns, y rows. Shared memory: what the columns' values take.
template <int V, class Columns, class F>
__global__ void map_columns_kernel(std::int64_t rows, std::int64_t count, Columns columns, F f) {
  LETHE_DYN_SHARED(unsigned char, shared);
  const ColumnBlock block(count, V);
  const std::int64_t lane = threadIdx.x / block.width, first = blockIdx.x * block.width * V;
  const std::int64_t column = first + threadIdx.x % block.width * V, end = block.end(blockIdx.x, V, count);
  ValuesOf<Columns> values[V];
  read_values(columns, first, end, column, shared, values);
  if (lane >= block.lanes || column >= end) return;
  for (std::int64_t row = blockIdx.y * block.lanes + lane; row < rows; row += gridDim.y * block.lanes)
    if constexpr (V == 1)
      f(row * count + column, values[0]);
    else
      f.template pack<V>(row * count + column, values);
}

template <int V, class Columns, class F>
void launch_map(void* stream, std::int64_t rows, std::int64_t count, const Columns& columns, const F& f) {
  constexpr std::int64_t kRows = 4;  // of a thread, so that reading its columns' values pays
  const ColumnBlock block(count, V);
  const std::int64_t worth = (rows + block.lanes * kRows - 1) / (block.lanes * kRows);
  const std::int64_t y = std::max<std::int64_t>(1, std::min(worth, kMostBlocks / block.blocks));
  LETHE_LAUNCH((map_columns_kernel<V, Columns, F>), dim3(static_cast<unsigned>(block.blocks), static_cast<unsigned>(y)),
               dim3(ColumnBlock::kThreads), values_bytes<V, Columns>(block), static_cast<cudaStream_t>(stream), rows,
               count, columns, f);
}

template <class T, std::size_t P, class F>
void map_columns(Cuda, void* stream, std::int64_t rows, std::int64_t count, const Columns<T, P>& columns, const F& f) {
  if (rows * count == 0) return;
  constexpr int kV = F::kElements;
  if (count % kV == 0 && f.can_pack())
    launch_map<kV>(stream, rows, count, columns, f);
  else
    launch_map<1>(stream, rows, count, columns, f);
}
#endif

}  // namespace lethe
