// The second half of a norm: f(i, values of column i % columns) for every element of a [rows, columns] matrix. The
// functor writes where it likes, in place too; f.pack<V>(i, values) does so for V elements of a row, values(k) being
// those of the k-th.
#pragma once
#include "kernels/divisor.h"
#include "kernels/packs.h"
#include "kernels/reduce/terms.h"

namespace lethe {

template <class T, std::size_t P, class F>
void map_columns(Cpu, void*, std::int64_t rows, std::int64_t count, const Columns<T, P>& columns, const F& f) {
  const std::int64_t repeat = rows_as_one(count), width = count * repeat;
  const std::int64_t wide_rows = rows / repeat, grain = std::max<std::int64_t>(1, kElementGrain / width);
  const auto run = [&f](Columns<T, P> at, std::int64_t start, std::int64_t length) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < length; ++j) f(start + j, values_at(at, j));
  };
  parallel_ranges(wide_rows, grain, [&](std::int64_t begin, std::int64_t end) {
    const WideColumns<T, P> wide(columns, count, repeat);
    for (std::int64_t row = begin; row < end; ++row) run(wide.at(), row * width, width);
  });
  for (std::int64_t row = wide_rows * repeat; row < rows; ++row) run(columns, row * count, count);
}

#ifdef LETHE_DEVICE_CODE
template <class T, std::size_t P, class F>
struct MapColumns {
  Divisor count;
  Columns<T, P> columns;
  F f;
  HD void operator()(std::int64_t i) const { f(i, values_at(columns, count.remainder(i))); }
  template <int V>
  HD void pack(std::int64_t i) const {
    const std::int64_t column = count.remainder(i);
    f.template pack<V>(i, [&](int k) { return values_at(columns, column + k); });
  }
};

template <class T, std::size_t P, class F>
void map_columns(Cuda device, void* stream, std::int64_t rows, std::int64_t count, const Columns<T, P>& columns,
                 const F& f) {
  constexpr int kV = F::kElements;
  for_each_pack<kV>(device, stream, rows * count, count % kV == 0 && f.can_pack(),
                    MapColumns<T, P, F>{Divisor(count), columns, f});
}
#endif

}  // namespace lethe
