// Sums on the CPU: rows outside, columns inside, so that memory is read in order and inner loops vectorise.
#pragma once
#include <algorithm>

#include "kernels/each_device.h"
#include "kernels/reduce/block_sums.h"
#include "kernels/reduce/plan.h"

namespace lethe {

inline SumPlan plan_sum(Cpu, const DeviceInfo& device, const SumExtent& extent, DType) {
  const std::int64_t wanted = (device.threads + extent.outer - 1) / extent.outer;
  const std::int64_t worth = extent.middle * extent.inner / kElementGrain;
  return {extent, std::max<std::int64_t>(1, std::min({wanted, worth, extent.middle}))};
}

/// The rows and columns of a task, a piece of one outer index, that one thread sums at once.
struct SumBlock {
  std::int64_t first, last;    // rows
  std::int64_t begin, count;   // columns, at most kSumColumns
  std::int64_t start, stride;  // index of the first element of row `first`; elements from row to row
};

/// The sums of a block's columns into `sums`. Not inlined: it is compiled once, whatever becomes of them.
template <class T, int K, std::size_t P, class F>
[[gnu::noinline]] void sum_block(const SumBlock& block, const Columns<T, P>& columns, const F& f,
                                 BlockSums<T, K>& sums) {
  const std::int64_t rows = block.last - block.first, count = block.count;
  const std::int64_t repeat = kByRow<F, ValuesOf<Columns<T, P>>> ? 1 : rows_as_one(block.stride);
  const std::int64_t wide_rows = rows / repeat, left = rows - wide_rows * repeat;
  Columns<T, P> here = columns;
  for (const T*& column : here) column += block.begin;
  const WideColumns<T, P> wide(here, count, repeat);
  sums.clear(count * repeat);
  sums.add(f, wide.at(), block.first, wide_rows, block.start, block.stride * repeat, count * repeat);
  sums.add(f, here, block.last - left, left, block.start + (rows - left) * block.stride, block.stride, count);
  for (int k = 0; k < K; ++k)
    for (std::int64_t r = 1; r < repeat; ++r)
      for (std::int64_t j = 0; j < count; ++j) sums.total[k][j] += sums.total[k][r * count + j];
}

template <int K, class T, std::size_t P, class F, class Finish>
void sum_piece(const SumPlan& plan, std::int64_t task, double* partial, const Columns<T, P>& columns, const F& f,
               const Finish& finish) {
  const std::int64_t inner = plan.extent.inner;
  const std::int64_t first = plan.first_row(task % plan.pieces), last = plan.first_row(task % plan.pieces + 1);
  const std::int64_t start = (task / plan.pieces * plan.extent.middle + first) * inner;
  BlockSums<T, K> sums;
  for (std::int64_t begin = 0; begin < inner; begin += kSumColumns) {
    const std::int64_t count = std::min(kSumColumns, inner - begin);
    sum_block({first, last, begin, count, start + begin, inner}, columns, f, sums);
    for (std::int64_t j = 0; j < count; ++j) {
      std::array<double, K> of{};
      for (int k = 0; k < K; ++k) of[k] = sums.total[k][j];
      store_sums<K>(plan, task, begin + j, of, partial, finish);
    }
  }
}

template <int K, class T, std::size_t P, class F, class Finish>
void sum_pieces(const SumPlan& plan, double* partial, const Columns<T, P>& columns, const F& f, const Finish& finish) {
  const std::int64_t task_size = std::max<std::int64_t>(1, plan.extent.middle * plan.extent.inner / plan.pieces);
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / task_size);
  const auto sum = [&](std::int64_t task) { sum_piece<K>(plan, task, partial, columns, f, finish); };
  parallel_for(Cpu{}, nullptr, plan.extent.outer * plan.pieces, sum, grain);
}

/// Adds all pieces up in their order.
template <int K, class Finish>
struct AddPieces {
  SumPlan plan;
  const double* partial;
  Finish finish;
  void operator()(std::int64_t i) const {
    const std::int64_t outer = i / plan.extent.inner, column = i % plan.extent.inner;
    std::array<double, K> sums{};
    for (std::int64_t piece = 0; piece < plan.pieces; ++piece)
      for (int k = 0; k < K; ++k) sums[k] += partial[plan.place(outer * plan.pieces + piece, k, K, column)];
    finish(outer, column, sums);
  }
};

template <class T, std::size_t P, class F, class Finish>
void sum_middle(Cpu device, const KernelArgs& args, const SumPlan& plan, const Columns<T, P>& columns, const F& f,
                const Finish& finish) {
  constexpr int K = kTerms<F, Columns<T, P>>;
  auto* const partial = static_cast<double*>(args.workspace);
  sum_pieces<K>(plan, partial, columns, f, finish);
  if (plan.pieces > 1)
    parallel_for(device, nullptr, plan.extent.outer * plan.extent.inner, AddPieces<K, Finish>{plan, partial, finish});
}

}  // namespace lethe
