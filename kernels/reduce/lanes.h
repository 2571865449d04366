// What the threads of a GPU's block do together: look the values of its columns up, add up over lanes, and find out
// whether the block is the last.
#pragma once
#include "kernels/reduce/column_block.h"
#include "kernels/reduce/terms.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Bytes of shared memory for the values of a block's columns.
template <int V, class Columns>
std::size_t values_bytes(const ColumnBlock& block) {
  return static_cast<std::size_t>(block.width) * V * sizeof(ValuesOf<Columns>);
}

/// The values of a thread's V columns from `column` on, of the block's in [first, end): looked up, or computed, once a
/// block. Every thread takes part; one whose columns are beyond the end gets none.
template <int V, class Columns>
__device__ void read_values(const Columns& columns, std::int64_t first, std::int64_t end, std::int64_t column,
                            void* shared, ValuesOf<Columns> (&values)[V]) {
  auto* const all = static_cast<ValuesOf<Columns>*>(shared);
  for (std::int64_t c = first + threadIdx.x; c < end; c += ColumnBlock::kThreads)
    all[c - first] = values_at(columns, c);
  __syncthreads();
  for (int v = 0; v < V && column < end; ++v) values[v] = all[column - first + v];
  __syncthreads();  // before the memory is used again
}

/// A block's threads over `width` columns, side by side, in as many lanes as there are threads for.
class Lanes {
 public:
  __device__ explicit Lanes(std::int64_t width)
      : width_(width),
        count_(ColumnBlock::kThreads / width),
        lane_(threadIdx.x / width),
        column_(threadIdx.x % width) {}
  __device__ std::int64_t lane() const { return lane_; }
  __device__ std::int64_t count() const { return count_; }
  __device__ std::int64_t column() const { return column_; }
  /// The last threads of a block may be too few for a lane.
  __device__ bool is_one() const { return lane_ < count_; }

  /// Adds each column's sums up over the lanes, in their order; lane 0 has them then. Every thread of the block takes
  /// part. `shared`: N doubles a thread.
  template <std::size_t N>
  __device__ void fold(double* shared, std::array<double, N>& sums) const {
    constexpr std::int64_t kThreads = ColumnBlock::kThreads;
    for (int n = 0; n < static_cast<int>(N); ++n) shared[n * kThreads + threadIdx.x] = sums[n];
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < static_cast<std::int64_t>(N) * width_; i += kThreads) {
      double* const first = shared + i / width_ * kThreads + i % width_;
      for (std::int64_t lane = 1; lane < count_; ++lane) *first += first[lane * width_];
    }
    __syncthreads();
    for (int n = 0; n < static_cast<int>(N); ++n) sums[n] = shared[n * kThreads + column_];
    __syncthreads();  // before the next call writes
  }

 private:
  std::int64_t width_, count_, lane_, column_;
};

/// Whether this block is the last of `blocks` to come here; what the others wrote before may then be read, by __ldcg.
/// Leaves the ticket at 0.
__device__ inline bool comes_last(unsigned* ticket, unsigned blocks) {
  __shared__ unsigned before;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    before = atomicAdd(ticket, 1U);
    if (before == blocks - 1) *ticket = 0;
  }
  __syncthreads();
  const bool last = before == blocks - 1;
  __threadfence();
  return last;
}

}  // namespace lethe
#endif
