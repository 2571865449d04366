// Elementwise ops from a named functor: y[i] = f(a[i], b[i], ...), inputs all of one dtype; on the CPU element by
// element, on a GPU 16 bytes at a time. In-place is part of the contract: no operand is `restrict`.
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/dtypes.h"
#include "kernels/map_rows.h"
#include "kernels/packs.h"

namespace lethe {

/// What a functor on values of T gives is stored as: T if it computes in it.
template <class T, class Result>
using StoredAs = std::conditional_t<std::is_same_v<Result, Compute<T>>, T, Result>;

template <class F, class T, int N>
struct MapIndex {
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
  template <int V>
  HD void pack(std::int64_t first) const {
    apply_pack<V>(first, Slots{});
  }
  template <int V, int... Slot>
  HD void apply_pack(std::int64_t first, std::integer_sequence<int, Slot...>) const {
    const Pack<T, V> x[N] = {load_pack<V>(in[Slot] + first)...};
    Pack<Result, V> y;
    for (int k = 0; k < V; ++k) y.at[k] = f(compute(x[Slot].at[k])...);
    store_pack(out + first, y);
  }
};

template <class Device, class F, class T, int N>
void run_map(Device device, void* stream, std::int64_t n, const MapIndex<F, T, N>& index) {
  bool packed = can_pack({index.out});
  for (const T* in : index.in) packed = packed && can_pack({in});
  for_each_pack<kPack<T>>(device, stream, n, packed, index);
}

/// The functor, with the op's settings if it takes any, and with the inputs' dtype if it rounds some to that.
template <class F>
F functor_of(const Attrs& attrs, DType dtype) {
  if constexpr (std::is_constructible_v<F, const Attrs&, DType>)
    return F(attrs, dtype);
  else if constexpr (std::is_constructible_v<F, const Attrs&>)
    return F(attrs);
  else
    return F{};
}

enum class Rows { Dense, Pitched };  // what a map takes: no gaps, or rows that may lie apart

template <class F, int N, class DTypes, Rows rows = Rows::Dense>
struct Map {
  template <class T>
  static MapIndex<F, T, N> index(const F& f, const KernelArgs& a) {
    MapIndex<F, T, N> index{f, {}, a.out<typename MapIndex<F, T, N>::Result>(0)};
    for (int slot = 0; slot < N; ++slot) index.in[slot] = a.in<T>(slot);
    return index;
  }

  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    return DTypes::visit(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const F f = functor_of<F>(args.op.attrs, args.in(0).dtype);
      if constexpr (rows == Rows::Pitched)
        if (const auto apart = RowsApart<N>::of(args))
          return make_kernel([count = n / apart->row, apart = *apart, f](const KernelArgs& a) {
            run_rows(Device{}, a.stream, count, MapOfRows<MapIndex<F, T, N>, N>{index<T>(f, a), apart});
          });
      return make_kernel([n, f](const KernelArgs& a) { run_map(Device{}, a.stream, n, index<T>(f, a)); });
    });
  }
};

/// Kernels of an op with N inputs of one dtype and one output, all of one shape; Pitched where the op is `pitched`.
template <class F, int N, class DTypes = Floats, Rows rows = Rows::Dense>
constexpr Kernels map() {
  Kernels kernels = each_device<Map<F, N, DTypes, rows>>();
  kernels.is_map = true;
  return kernels;
}

}  // namespace lethe
