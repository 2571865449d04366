// Rows of a matrix in packs.
#pragma once
#include <type_traits>

#include "kernels/packs.h"
#include "kernels/reduce/rows.h"

namespace lethe {

/// Elements of T that a team takes at a time of a row of whole packs: the CPU's compiler does it by itself.
template <class T, class Team>
inline constexpr int kTogether = std::is_same_v<Team, OneThread> ? 1 : kPack<T>;

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
/// The sum of what f gives of the elements of a pack.
template <int V, class F>
HD auto sum_in_pack(const F& f) {
  auto sum = f(0);
  for (int v = 1; v < V; ++v) sum += f(v);
  return sum;
}

}  // namespace lethe
