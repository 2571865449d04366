// Elementwise ops from a named functor: y[i] = f(a[i], b[i], ...), all of one dtype. In-place is part of the contract:
// no operand is `restrict`.
#pragma once
#include <type_traits>

#include "kernels/each_device.h"

namespace lethe {

/// The functor, with the op's settings if it takes any.
template <class F>
F functor_of(const Attrs& attrs) {
  if constexpr (std::is_constructible_v<F, const Attrs&>)
    return F(attrs);
  else
    return F{};
}

template <class F, class T, int N>
struct MapIndex {
  F f;
  const T* in[N];
  T* out;
  HD void operator()(std::int64_t i) const {
    if constexpr (N == 1)
      out[i] = f(in[0][i]);
    else if constexpr (N == 2)
      out[i] = f(in[0][i], in[1][i]);
    else
      out[i] = f(in[0][i], in[1][i], in[2][i]);
  }
};

template <class F, int N>
struct Map {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n, f = functor_of<F>(args.op.attrs)](const KernelArgs& a) {
        MapIndex<F, T, N> index{f, {}, a.out<T>(0)};
        for (int slot = 0; slot < N; ++slot) index.in[slot] = a.in<T>(slot);
        parallel_for(Device{}, a.stream, n, index);
      });
    });
  }
};

/// Kernels of an op with N inputs and one output, all of the same shape and dtype (f32 or f64).
template <class F, int N>
constexpr Kernels map() {
  return each_device<Map<F, N>>();
}

}  // namespace lethe
