// Maps of parts of wider vars, whose rows lie apart.
#pragma once
#include <optional>

#include "framework/language/strides.h"
#include "kernels/divisor.h"
#include "kernels/each_device.h"

namespace lethe {

/// Elements from row to row of each operand, and of a row.
template <int N>
struct RowsApart {
  std::int64_t in[N], out, row;

  /// Nothing if there are no gaps.
  static std::optional<RowsApart> of(const PrepareArgs& args) {
    const std::int64_t row = row_of(args.out(0).shape);
    RowsApart apart{{}, row_step(args.out(0)), row};
    bool gaps = apart.out != row;
    for (int slot = 0; slot < N; ++slot) gaps = (apart.in[slot] = row_step(args.in(slot))) != row || gaps;
    return gaps ? std::optional(apart) : std::nullopt;
  }
};

/// A map of rows that lie apart: as of one row, from where each of its operands begins.
template <class Map, int N>
struct MapOfRows {
  Map map;
  RowsApart<N> apart;
  HD Map at(std::int64_t row) const {
    Map here = map;
    for (int slot = 0; slot < N; ++slot) here.in[slot] += row * apart.in[slot];
    here.out += row * apart.out;
    return here;
  }
};

template <class Map, int N>
void run_rows(Cpu device, void* stream, std::int64_t rows, const MapOfRows<Map, N>& of) {
  const auto run = [of](std::int64_t row) { run_range(of.at(row), 0, of.apart.row); };
  parallel_for(device, stream, rows, run, kElementGrain / of.apart.row + 1);
}
#ifdef LETHE_DEVICE_CODE
template <class Map, int N>
struct ElementOfRows {
  MapOfRows<Map, N> of;
  Divisor row;
  HD void operator()(std::int64_t i) const {
    const std::int64_t r = row.quotient(i);
    of.at(r)(i - r * row.by());
  }
};
template <class Map, int N>
void run_rows(Cuda device, void* stream, std::int64_t rows, const MapOfRows<Map, N>& of) {
  parallel_for(device, stream, rows * of.apart.row, ElementOfRows<Map, N>{of, Divisor(of.apart.row)});
}
#endif

}  // namespace lethe
