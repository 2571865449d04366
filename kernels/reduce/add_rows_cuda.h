// Sums of rows on a GPU (add_rows.h): a block has a range of the table's rows and looks through all ids for them.
#pragma once
#include <algorithm>

#include "kernels/copy_parts.h"
#include "kernels/low_floats.h"
#include "kernels/reduce/row_finder.h"

namespace lethe {

template <class T>
struct RowSums {
  const std::int32_t* ids;
  const T* dy;
  const Compute<T>* before;  // what the table begins with, maybe in its own memory; null: zeros
  Compute<T>* table;
  std::int64_t n, rows, width;
};

#ifdef LETHE_DEVICE_CODE
/// V columns of the row that a thread adds to: read only where it is another than before.
template <int V, class T>
class OpenRow {
 public:
  HD OpenRow(T* first, std::int64_t step) : first_(first), step_(step) {}
  template <class From>
  HD void add(std::int32_t row, const Pack<From, V>& more) {
    T* const at = first_ + row * step_;
    if (row != row_) sums_ = load_pack<V>(at);
    row_ = row;
    for (int v = 0; v < V; ++v) sums_.at[v] += more[v];
    store_pack(at, sums_);
  }

 private:
  T* first_;
  std::int64_t step_;
  std::int32_t row_ = -1;
  Pack<T, V> sums_;
};

/// A block's threads: `groups` of rows by `width` packs of columns.
struct RowBlock {
  std::int64_t width, groups;
  HD explicit RowBlock(std::int64_t packs)
      : width(packs < RowFinder::kThreads ? packs : RowFinder::kThreads), groups(RowFinder::kThreads / width) {}
};

/// Grid: x parts of the rows, y blocks of columns. Each column of a row is one thread's.
template <int V, class T>
__global__ void add_rows_kernel(RowSums<T> of) {
  constexpr int kAhead = 8;  // loads on the way at once
  __shared__ RowFinder::Found found[RowFinder::kTile];
  const RowBlock block(of.width / V);
  const std::int64_t first = of.rows * blockIdx.x / gridDim.x, last = of.rows * (blockIdx.x + 1) / gridDim.x;
  const std::int64_t group = threadIdx.x / block.width;
  const std::int64_t column = (blockIdx.y * block.width + threadIdx.x % block.width) * V;
  const bool adds = group < block.groups && column < of.width;
  OpenRow<V, Compute<T>> row(of.table + first * of.width + column, of.width);
  for (std::int64_t tile = 0; tile < of.n; tile += RowFinder::kTile) {
    const int count = RowFinder::find(of.ids + tile, of.n - tile, first, last, static_cast<int>(block.groups), found);
    for (int m = 0; m < count; m += kAhead) {
      Pack<T, V> more[kAhead];
      bool mine[kAhead];
      for (int k = 0; k < kAhead; ++k) {
        mine[k] = adds && m + k < count && found[m + k].group == group;
        if (mine[k]) more[k] = load_pack<V>(of.dy + (tile + found[m + k].place) * of.width + column);
      }
      for (int k = 0; k < kAhead; ++k)
        if (mine[k]) row.add(found[m + k].row, more[k]);
    }
  }
}

template <int V, class T>
void launch_add_rows(void* stream, const RowSums<T>& sums) {
  constexpr std::int64_t kBlocks = 4 * kProcessors;
  const std::int64_t packs = sums.width / V;
  const RowBlock block(packs);
  const std::int64_t y = (packs + block.width - 1) / block.width,
                     x = std::clamp<std::int64_t>(kBlocks / y, 1, sums.rows);
  LETHE_LAUNCH((add_rows_kernel<V, T>), dim3(static_cast<unsigned>(x), static_cast<unsigned>(y)),
               dim3(RowFinder::kThreads), 0, static_cast<cudaStream_t>(stream), sums);
}

template <class T>
void add_rows(Cuda device, void* stream, const RowSums<T>& sums) {
  constexpr int V = kPack<Compute<T>>;
  if (!sums.before)
    set_zero(device, stream, sums.rows * sums.width, sums.table);
  else if (sums.before != sums.table)
    copy_run(device, stream, sums.rows * sums.width, sums.before, sums.table);
  if (sums.width % V == 0 && can_pack({sums.dy, sums.table}))
    launch_add_rows<V>(stream, sums);
  else
    launch_add_rows<1>(stream, sums);
}
#endif

}  // namespace lethe
