// Kernels of an op that maps rows (the last axis) of one or two inputs of one shape to those of its output.
#pragma once
#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/rows.h"

namespace lethe {

template <template <class> class Row, class T, int N>
struct MappedRow {
  std::int64_t length;
  const T* in[N];
  T* out;
  bool packed;

  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return length / together<T>(length); }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(length, [&](auto V) {
      const std::int64_t packs = length / V, first = row * length;
      const auto x = team.hold(packs, RowPacks<V, const T>{in[0] + first, packed});
      const RowPacks<V, T> y{out + first, packed};
      if constexpr (N == 1)
        Row<T>::template run<V>(team, packs, x, y);
      else
        Row<T>::template run<V>(team, packs, x, team.hold(packs, RowPacks<V, const T>{in[1] + first, packed}), y);
    });
  }
};

template <template <class> class Row, int N>
struct MapRows {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t length = args.out(0).shape.back(), rows = elements(args.out(0).shape) / length;
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        MappedRow<Row, T, N> row{length, {}, a.out<T>(0), can_pack({a.out<T>(0)})};
        for (int n = 0; n < N; ++n) row.in[n] = a.in<T>(n), row.packed = row.packed && can_pack({row.in[n]});
        for_each_row(Device{}, a.stream, rows, length, row);
      });
    });
  }
};

/// Row<T>::run<V>(team, packs, inputs..., output): each but the first two has operator[] by pack of V, the output
/// set().
template <template <class> class Row, int N>
constexpr Kernels map_rows() {
  return each_device<MapRows<Row, N>>();
}

}  // namespace lethe
