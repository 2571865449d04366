// f(i, values of column i % columns) for every element of a [rows, columns] matrix: the second half of a norm. The
// functor writes where it likes, in place too.
#pragma once
#include "kernels/reduce.h"

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
  std::int64_t count;
  Columns<T, P> columns;
  F f;
  HD void operator()(std::int64_t i) const { f(i, values_at(columns, i % count)); }
};

template <class T, std::size_t P, class F>
void map_columns(Cuda device, void* stream, std::int64_t rows, std::int64_t count, const Columns<T, P>& columns,
                 const F& f) {
  parallel_for(device, stream, rows * count, MapColumns<T, P, F>{count, columns, f});
}
#endif

}  // namespace lethe
