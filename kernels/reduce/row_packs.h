// Rows of a matrix in packs.
#pragma once
#include <limits>
#include <type_traits>

#include "kernels/low_floats.h"
#include "kernels/packs.h"

namespace lethe {

/// Elements that a team of a GPU takes at a time of a row of T; of a row on a CPU 1: its compiler finds packs by
/// itself.
template <class T>
HD int together(std::int64_t length) {
  return length % kPack<T> == 0 ? kPack<T> : 1;
}
/// Calls f with that number, as a constant.
template <class T, class Team, class F>
HD void in_packs(std::int64_t length, const F& f) {
  if constexpr (Team::kTakesPacks)
    if (together<T>(length) > 1) return f(std::integral_constant<int, kPack<T>>{});
  f(std::integral_constant<int, 1>{});
}

/// A row, V elements at a time: in one access where it is `packed`. What is added up together is the same in any case.
template <int V, class T>
struct RowPacks {
  using P = Pack<std::remove_const_t<T>, V>;
  T* row;
  bool packed;
  HD P operator[](std::int64_t i) const {
    if (V > 1 && packed) return load_pack<V, std::remove_const_t<T>>(row + i * V);
    P pack;
    for (int v = 0; v < V; ++v) pack.at[v] = row[i * V + v];
    return pack;
  }
  HD void set(std::int64_t i, const P& pack) const {
    if (V > 1 && packed) return store_pack(row + i * V, pack);
    for (int v = 0; v < V; ++v) row[i * V + v] = pack.at[v];
  }
};

/// A row, or the sum of two rows, which is then rounded and written, to the memory of either if need be.
template <int V, class T>
struct SumPacks {
  RowPacks<V, const T> in, added;  // added: without a row for a row as it is
  RowPacks<V, T> sum;
  HD Pack<T, V> operator[](std::int64_t i) const {
    Pack<T, V> both = in[i];
    if (!added.row) return both;
    const Pack<T, V> more = added[i];
    for (int v = 0; v < V; ++v) both.at[v] = static_cast<T>(both[v] + more[v]);
    sum.set(i, both);
    return both;
  }
};

/// What f gives of the elements of a pack, added up; of the first `count` alone, which is V at least on a CPU.
template <int V, class F>
HD auto sum_in_pack(const F& f, std::int64_t count = V) {
  auto sum = f(0);
  for (int v = 1; v < V; ++v)
    if (v < count) sum += f(v);
  return sum;
}
/// The largest of them; NaN is passed over.
template <int V, class T>
HD Compute<T> max_in_pack(const Pack<T, V>& pack, std::int64_t count = V) {
  Compute<T> most = -std::numeric_limits<Compute<T>>::infinity();
  for (int v = 0; v < V; ++v)
    if (const Compute<T> value = pack[v]; v < count && value > most) most = value;
  return most;
}

/// In the type of the sum.
template <class S>
HD S mean_of(S sum, std::int64_t n) {
  return sum / static_cast<S>(n);
}
/// The pack of what f gives of 0 to V - 1.
template <class T, int V, class F>
HD Pack<T, V> pack_of(const F& f) {
  Pack<T, V> pack;
  for (int v = 0; v < V; ++v) pack.at[v] = f(v);
  return pack;
}

}  // namespace lethe
