// One thread's product by Eigen's blocked kernel, with memory for its packed panels handed in.
#pragma once
#include <cstdint>

namespace lethe {

/// A row-major matrix, or the transpose of one; `stride` is the distance of its rows in memory.
template <class T>
struct MatrixView {
  const T* data;
  std::int64_t stride;
  bool transposed = false;
};

/// T: float or double.
template <class T>
class BlockProduct {
 public:
  /// For products of at most these sizes.
  BlockProduct(std::int64_t m, std::int64_t n, std::int64_t k);

  /// Packing memory of add(), aligned to 64; depends on this processor's caches.
  std::int64_t packing_bytes() const;

  /// c[m, n] += a[m, k] b[k, n]
  void add(std::int64_t m, std::int64_t n, std::int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
           std::int64_t c_stride, void* packing) const;

 private:
  std::int64_t left_bytes() const;

  std::int64_t rows_, columns_, depth_;  // of a packed panel
};

}  // namespace lethe
