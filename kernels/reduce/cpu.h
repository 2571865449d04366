// Sums on the CPU: rows outside, columns inside, so that memory is read in order and inner loops vectorise.
#pragma once
#include <algorithm>

#include "kernels/each_device.h"
#include "kernels/reduce/plan.h"
#include "kernels/reduce/terms.h"

namespace lethe {

inline constexpr std::int64_t kBlock = 1024;  // columns summed at once: their sums stay in the first-level cache

inline SumPlan plan_sum(Cpu, const DeviceInfo& device, const SumExtent& extent, DType) {
  const std::int64_t wanted = (device.threads + extent.outer - 1) / extent.outer;
  const std::int64_t worth = extent.middle * extent.inner / kElementGrain;
  return {extent, std::max<std::int64_t>(1, std::min({wanted, worth, extent.middle}))};
}

/// The sums of up to kBlock columns, or of the columns of several rows side by side.
template <class T, int K>
class BlockSums {
 public:
  double total[K][kBlock];
  explicit BlockSums(std::int64_t width) {
    for (int k = 0; k < K; ++k) std::fill_n(total[k], width, 0.0);
  }
  /// Adds `rows` rows of `width` elements, `stride` apart, the first at index `start`.
  template <std::size_t P, class F>
  void add(const F& f, Columns<T, P> columns, std::int64_t row, std::int64_t rows, std::int64_t start,
           std::int64_t stride, std::int64_t width) {
    for (std::int64_t end = row + rows; row < end;) {
      Term run[K][kBlock];
      for (int k = 0; k < K; ++k) std::fill_n(run[k], width, Term(0));
      const std::int64_t stop = std::min(end, row + kRun);
      for (; row + kUnroll <= stop; row += kUnroll, start += kUnroll * stride)
        add_to<kUnroll>(run, f, columns, row, start, stride, width);
      for (; row < stop; ++row, start += stride) add_to<1>(run, f, columns, row, start, stride, width);
      for (int k = 0; k < K; ++k)
        for (std::int64_t j = 0; j < width; ++j) total[k][j] += static_cast<double>(run[k][j]);
    }
  }

 private:
  using Term = Compute<T>;
  static constexpr int kUnroll = 4;  // rows added before the run is loaded and stored again
  template <int R, std::size_t P, class F>
  static void add_to(Term (&run)[K][kBlock], const F& f, Columns<T, P> columns, std::int64_t row, std::int64_t start,
                     std::int64_t stride, std::int64_t width) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < width; ++j) {
      const std::array<Term, P> values = values_at(columns, j);
      std::array<Term, K> terms = terms_at<F, T, P>(f, row, start + j, values);
      for (int r = 1; r < R; ++r) {
        const std::array<Term, K> more = terms_at<F, T, P>(f, row + r, start + r * stride + j, values);
        for (int k = 0; k < K; ++k) terms[k] += more[k];
      }
      for (int k = 0; k < K; ++k) run[k][j] += terms[k];
    }
  }
};

/// The sums of one task: a piece of one outer index.
template <int K, class T, std::size_t P, class F, class Finish>
void sum_piece(const SumPlan& plan, std::int64_t task, double* partial, const Columns<T, P>& columns, const F& f,
               const Finish& finish) {
  const std::int64_t inner = plan.extent.inner, repeat = kByRow<F, T, P> ? 1 : rows_as_one(inner);
  const std::int64_t first = plan.first_row(task % plan.pieces), last = plan.first_row(task % plan.pieces + 1);
  const std::int64_t wide_rows = (last - first) / repeat;
  const std::int64_t start = (task / plan.pieces * plan.extent.middle + first) * inner;
  for (std::int64_t begin = 0; begin < inner; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, inner - begin);
    Columns<T, P> here = columns;
    for (const T*& column : here) column += begin;
    const WideColumns<T, P> wide(here, count, repeat);
    BlockSums<T, K> sums(count * repeat);
    sums.add(f, wide.at(), first, wide_rows, start + begin, inner * repeat, count * repeat);
    sums.add(f, here, first + wide_rows * repeat, last - first - wide_rows * repeat,
             start + wide_rows * repeat * inner + begin, inner, count);
    for (std::int64_t j = 0; j < count; ++j) {
      std::array<double, K> folded{};
      for (int k = 0; k < K; ++k)
        for (std::int64_t r = 0; r < repeat; ++r) folded[k] += sums.total[k][r * count + j];
      store_sums<K>(plan, task, begin + j, folded, partial, finish);
    }
  }
}

template <int K, class T, std::size_t P, class F, class Finish>
void sum_pieces(Cpu device, void* stream, const SumPlan& plan, double* partial, const Columns<T, P>& columns,
                const F& f, const Finish& finish) {
  const std::int64_t task_size = std::max<std::int64_t>(1, plan.extent.middle * plan.extent.inner / plan.pieces);
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / task_size);
  const auto sum = [&](std::int64_t task) { sum_piece<K>(plan, task, partial, columns, f, finish); };
  parallel_for(device, stream, plan.extent.outer * plan.pieces, sum, grain);
}

}  // namespace lethe
