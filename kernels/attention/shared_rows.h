// Rows of heads in a block's shared memory, where the tensor cores of all its warps find them (tensor_cores.h). Rows
// stand 16 bytes further apart than they are long, so that the eight that ldmatrix reads at once lie in different
// banks.
#pragma once
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Four matrices of 8 by 8 numbers, whose row r lane 8 i + r points to: pairs[i] is what mma.m16n8k16 wants of matrix
/// i, or of it turned.
template <bool Turned, class T>
__device__ LeftTile load_matrices(const T* row) {
  LeftTile four;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define LETHE_LDMATRIX(turned)                                                                      \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" turned ".shared.b16 {%0,%1,%2,%3}, [%4];"            \
               : "=r"(four.pairs[0]), "=r"(four.pairs[1]), "=r"(four.pairs[2]), "=r"(four.pairs[3]) \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))                          \
               : "memory")
  if constexpr (Turned)
    LETHE_LDMATRIX(".trans");
  else
    LETHE_LDMATRIX("");
#undef LETHE_LDMATRIX
#else
  const int lane = static_cast<int>(threadIdx.x % 32), g = lane / 4, t = lane % 4;
  for (int i = 0; i < 4; ++i) {
    const T* const one = __shfl_sync(0xffffffffu, row, 8 * i + (Turned ? 2 * t : g));
    const T* const other = Turned ? __shfl_sync(0xffffffffu, row, 8 * i + 2 * t + 1) : one;
    four.pairs[i] = one[Turned ? g : 2 * t].bits | std::uint32_t{other[Turned ? g : 2 * t + 1].bits} << 16;
  }
#endif
  return four;
}

/// Rows of up to Size numbers, a multiple of 16.
template <class T, int Size>
struct SharedRows {
  static constexpr int kApart = Size + 8;
  T* data;

  __device__ SharedRows from(int row) const { return {data + row * kApart}; }
  /// 16 rows, by the 16 numbers from d on.
  __device__ LeftTile left(int row, int d) const { return load_matrices<false>(upright(row, d)); }
  /// 16 rows, by two times 8 numbers from d on.
  __device__ LeftTile right(int row, int d) const { return load_matrices<true>(upright(row, d)); }
  /// The 16 numbers from d on, by two times 8 rows.
  __device__ LeftTile turned(int row, int d) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return load_matrices<false>(data + (row + lane / 16 * 8 + lane % 8) * kApart + d + lane / 8 % 2 * 8);
  }

 private:
  __device__ const T* upright(int row, int d) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return data + (row + lane % 16) * kApart + d + lane / 16 * 8;
  }
};

/// sums += 16 rows times 8 * N rows in shared memory.
template <class T, int N, int Size, class Left>
__device__ void add_scores(SumTile (&sums)[N], const Left& left, const SharedRows<T, Size>& rows) {
  for (int d = 0; d < Size; d += 16) {
    const LeftTile of = left(d);
    for (int n = 0; n < N; n += 2) {
      const LeftTile two = rows.turned(8 * n, d);
      add_product<T>(sums[n], of, {{two.pairs[0], two.pairs[1]}});
      add_product<T>(sums[n + 1], of, {{two.pairs[2], two.pairs[3]}});
    }
  }
}
/// sums += shares times 8 * N rows in shared memory.
template <class T, int N, int Size>
__device__ void add_rows(SumTile (&sums)[Size / 8], const SumTile (&shares)[N], const SharedRows<T, Size>& rows) {
  for (int n = 0; n < N; n += 2) {
    const auto pair = [&](int m, int i) { return pair_of<T>(shares[m].at[i], shares[m].at[i + 1]); };
    const LeftTile of{{pair(n, 0), pair(n, 2), pair(n + 1, 0), pair(n + 1, 2)}};
    for (int d = 0; d < Size; d += 16) {
      const LeftTile two = rows.right(8 * n, d);
      add_product<T>(sums[d / 8], of, {{two.pairs[0], two.pairs[1]}});
      add_product<T>(sums[d / 8 + 1], of, {{two.pairs[2], two.pairs[3]}});
    }
  }
}

}  // namespace lethe
#endif
