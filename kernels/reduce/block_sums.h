// Sums of neighbouring columns by one thread of the CPU, which its inner loops vectorise.
#pragma once
#include <algorithm>

#include "kernels/reduce/terms.h"

namespace lethe {

inline constexpr std::int64_t kSumColumns = 1024;  // columns summed at once: their sums stay in the first-level cache

/// The sums of up to kSumColumns columns, or of the columns of several rows side by side.
template <class T, int K>
class BlockSums {
 public:
  double total[K][kSumColumns];
  void clear(std::int64_t width) {
    for (int k = 0; k < K; ++k) std::fill_n(total[k], width, 0.0);
  }
  /// Adds `rows` rows of `width` elements, `stride` apart, the first at index `start`.
  template <std::size_t P, class F>
  void add(const F& f, Columns<T, P> columns, std::int64_t row, std::int64_t rows, std::int64_t start,
           std::int64_t stride, std::int64_t width) {
    for (std::int64_t end = row + rows; row < end;) {
      Term run[K][kSumColumns];
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
  static void add_to(Term (&run)[K][kSumColumns], const F& f, Columns<T, P> columns, std::int64_t row,
                     std::int64_t start, std::int64_t stride, std::int64_t width) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < width; ++j) {
      const std::array<Term, P> values = values_at(columns, j);
      std::array<Term, K> terms = terms_at(f, row, start + j, values);
      for (int r = 1; r < R; ++r) {
        const std::array<Term, K> more = terms_at(f, row + r, start + r * stride + j, values);
        for (int k = 0; k < K; ++k) terms[k] += more[k];
      }
      for (int k = 0; k < K; ++k) run[k][j] += terms[k];
    }
  }
};

}  // namespace lethe
