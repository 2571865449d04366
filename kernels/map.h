// Elementwise ops from a named functor: y[i] = f(a[i], b[i], ...), inputs all of one dtype. In-place is part of the
// contract: no operand is `restrict`.
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/each_device.h"

namespace lethe {

/// The dtypes that an op computes in.
struct Floats {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    return for_float(dtype, body);
  }
};
struct Numbers {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    return for_number(dtype, body);
  }
};
/// Truth values: u8, 0 or not 0.
struct Flags {
  template <class Body>
  static auto visit(DType dtype, const Body& body) {
    check(dtype == DType::u8, "no kernel for dtype ", name_of(dtype));
    return body(std::uint8_t{});
  }
};

/// What a functor on values of T gives is stored as: T if it computes in it.
template <class T, class Result>
using StoredAs = std::conditional_t<std::is_same_v<Result, Compute<T>>, T, Result>;

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
  // What the functor gives may be of another type than what it takes.
  template <int... Slot>
  static auto result(std::integer_sequence<int, Slot...>) -> decltype(std::declval<F>()((Slot, Compute<T>{})...));
  using Slots = std::make_integer_sequence<int, N>;
  using Result = StoredAs<T, decltype(result(Slots{}))>;

  F f;
  const T* in[N];
  Result* out;
  HD void operator()(std::int64_t i) const { apply(i, Slots{}); }
  template <int... Slot>
  HD void apply(std::int64_t i, std::integer_sequence<int, Slot...>) const {
    out[i] = f(compute(in[Slot][i])...);
  }
};

template <class F, int N, class DTypes>
struct Map {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    return DTypes::visit(args.in(0).dtype, [&](auto zero) {
      using Index = MapIndex<F, decltype(zero), N>;
      return make_kernel([n, f = functor_of<F>(args.op.attrs)](const KernelArgs& a) {
        Index index{f, {}, a.out<typename Index::Result>(0)};
        for (int slot = 0; slot < N; ++slot) index.in[slot] = a.in<decltype(zero)>(slot);
        parallel_for(Device{}, a.stream, n, index);
      });
    });
  }
};

/// Kernels of an op with N inputs of one dtype and one output, all of the same shape.
template <class F, int N, class DTypes = Floats>
constexpr Kernels map() {
  return each_device<Map<F, N, DTypes>>();
}

}  // namespace lethe
