// A product element by element on a GPU, and sums of columns: slow, and there where cuBLASLt has no algorithm that
// works.
#pragma once
#include <type_traits>

#include "kernels/dtypes.h"
#include "kernels/each_device.h"
#include "kernels/gemm/gemm.h"

namespace lethe {

/// A matrix of a stack, its element (i, j) at i * row + j * column.
template <class T>
struct Strided {
  T* data;
  std::int64_t of_one, row, column;
  HD T& at(std::int64_t stack, std::int64_t i, std::int64_t j) const {
    return data[stack * of_one + i * row + j * column];
  }
};

/// An element of c with a bias, if there is one, but without relu: one sum in the order of k.
template <class T, class C>
struct PlainProduct {
  std::int64_t m, n, k;
  Strided<const T> a, b;
  const T* bias;  // null: none
  Strided<C> c;
  bool accumulate;

  PlainProduct(const GemmShape& s, const void* a, const void* b, const void* bias, void* c)
      : m(s.m),
        n(s.n),
        k(s.k),
        a{static_cast<const T*>(a), s.m * s.k, s.transpose_a ? 1 : s.row_a(), s.transpose_a ? s.row_a() : 1},
        b{static_cast<const T*>(b), s.k * s.n, s.transpose_b ? 1 : s.row_b(), s.transpose_b ? s.row_b() : 1},
        bias(static_cast<const T*>(bias)),
        c{static_cast<C*>(c), s.m * s.n, s.row_c(), 1},
        accumulate(s.accumulate) {}

  HD void operator()(std::int64_t index) const {
    const std::int64_t j = index % n, i = index / n % m, stack = index / n / m;
    C& to = c.at(stack, i, j);
    Compute<T> sum = accumulate ? static_cast<Compute<T>>(to) : Compute<T>(0);
    for (std::int64_t at = 0; at < k; ++at) sum += compute(a.at(stack, i, at)) * compute(b.at(stack, at, j));
    to = static_cast<C>(bias ? sum + compute(bias[j]) : sum);
  }
};

/// A sum of GemmShape::sums_a: of column j of a, [k, m].
template <class T, class C>
struct PlainSum {
  std::int64_t m, k;
  const T* a;
  C* sums;
  HD void operator()(std::int64_t j) const {
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += static_cast<double>(compute(a[i * m + j]));
    sums[j] = static_cast<C>(sum);
  }
};

template <class Device>
void sum_plainly(Device device, void* stream, DType dtype, const GemmShape& s, const void* a, void* sums) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [&](auto* to) {
      parallel_for(device, stream, s.m,
                   PlainSum<T, std::remove_pointer_t<decltype(to)>>{s.m, s.k, static_cast<const T*>(a), to});
    };
    if (s.wide_c)
      run(static_cast<Compute<T>*>(sums));
    else
      run(static_cast<T*>(sums));
  });
}

}  // namespace lethe
