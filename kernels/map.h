// Elementwise ops from a named functor: y[i] = f(a[i], b[i], ...), inputs all of one dtype. In-place is part of the
// contract: no operand is `restrict`.
#pragma once
#include "kernels/map_index.h"

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

/// The functor, with the op's settings if it takes any.
template <class F>
F functor_of(const Attrs& attrs) {
  if constexpr (std::is_constructible_v<F, const Attrs&>)
    return F(attrs);
  else
    return F{};
}

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
        run_map(Device{}, a.stream, n, index);
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
