// Elementwise ops from a named functor: y[i] = f(a[i], b[i], ...), inputs all of one dtype; on the CPU element by
// element, on a GPU 16 bytes at a time. In-place is part of the contract: no operand is `restrict`.
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/dtypes.h"
#include "kernels/packs.h"

namespace lethe {

/// What a functor on values of T gives is stored as: T if it computes in it.
template <class T, class Result>
using StoredAs = std::conditional_t<std::is_same_v<Result, Compute<T>>, T, Result>;

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

template <class F, class T, int N>
void run_map(Cpu device, void* stream, std::int64_t n, const MapIndex<F, T, N>& index) {
  parallel_for(device, stream, n, index);
}
#ifdef LETHE_DEVICE_CODE
template <class F, class T, int N>
void run_map(Cuda device, void* stream, std::int64_t n, const MapIndex<F, T, N>& index) {
  bool packed = can_pack({index.out});
  for (const T* in : index.in) packed = packed && can_pack({in});
  for_each_pack<kPack<T>>(device, stream, n, packed, index);
}
#endif

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
