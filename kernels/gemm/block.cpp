#include "kernels/gemm/block.h"

#include <Eigen/Core>
#include <algorithm>

#include "kernels/workspace.h"

namespace lethe {
namespace {

// Eigen's public product allocates its panels; this calls what Eigen's own BLAS calls, which takes them.
template <class T>
using Blocking = Eigen::internal::level3_blocking<T, T>;

template <class T>
struct Panels : Blocking<T> {
  Panels(std::int64_t rows, std::int64_t columns, std::int64_t depth, T* left, T* right) {
    this->m_mc = rows, this->m_nc = columns, this->m_kc = depth;
    this->m_blockA = left, this->m_blockB = right;
  }
};

constexpr int order_of(bool transposed) { return transposed ? Eigen::RowMajor : Eigen::ColMajor; }

/// Eigen's result is column-major, so it is asked for c^T[n, m] += b^T a^T; our row-major b is a column-major b^T.
template <class T, bool TransposedA, bool TransposedB>
void add_product(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
                 std::int64_t c_stride, Blocking<T>& blocking) {
  Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, order_of(TransposedB), false, T,
                                                 order_of(TransposedA), false, Eigen::ColMajor, 1>::run(n, m, k, b.data,
                                                                                                        b.stride,
                                                                                                        a.data,
                                                                                                        a.stride, c, 1,
                                                                                                        c_stride, T(1),
                                                                                                        blocking);
}

}  // namespace

template <class T>
BlockProduct<T>::BlockProduct(std::int64_t m, std::int64_t n, std::int64_t k) {
  Eigen::Index rows = n, columns = m, depth = k;  // of c^T
  Eigen::internal::computeProductBlockingSizes<T, T>(depth, rows, columns);
  // If m is small Eigen would pack all of b, which may be large; a panel that stays in the second-level cache is
  // faster.
  constexpr std::int64_t kPanelBytes = 1 << 20, kMultiple = 48;  // a multiple of Eigen's register blocks
  const std::int64_t most = kPanelBytes / (depth * std::int64_t{sizeof(T)}) / kMultiple * kMultiple;
  rows_ = std::min<std::int64_t>({rows, n, std::max(most, kMultiple)});
  columns_ = std::min<std::int64_t>(columns, m);
  depth_ = depth;
}

template <class T>
std::int64_t BlockProduct<T>::left_bytes() const {
  return aligned(depth_ * rows_ * std::int64_t{sizeof(T)});
}

template <class T>
std::int64_t BlockProduct<T>::packing_bytes() const {
  return left_bytes() + aligned(depth_ * columns_ * std::int64_t{sizeof(T)});
}

template <class T>
void BlockProduct<T>::add(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
                          std::int64_t c_stride, void* packing) const {
  T* const left = static_cast<T*>(packing);
  Panels<T> panels(rows_, columns_, depth_, left, reinterpret_cast<T*>(static_cast<char*>(packing) + left_bytes()));
  const auto run = b.transposed ? (a.transposed ? add_product<T, true, true> : add_product<T, false, true>)
                                : (a.transposed ? add_product<T, true, false> : add_product<T, false, false>);
  run(m, n, k, a, b, c, c_stride, panels);
}

template class BlockProduct<float>;
template class BlockProduct<double>;

}  // namespace lethe
