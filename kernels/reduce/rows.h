// One row of a matrix at a time: softmax, layer norm, losses. The row's algorithm is written once, over a team that can
// sum, find the largest, and do something for each element: on the CPU one thread, on a GPU a block. A result of a sum
// or a maximum is known to all; a team has read its row before it returns one, so a row may then be overwritten.
#pragma once
#include "framework/op_def.h"
#include "kernels/reduce/rows_cpu.h"
#include "kernels/reduce/rows_cuda.h"

namespace lethe {

/// Shape rule: as input 0, which has a last axis.
inline std::vector<Type> same_rows_as_first(const InferArgs& args) {
  check(!args.in(0).shape.empty(), args.op.type, ": the input is a scalar");
  return same_as_first(args);
}

template <template <class> class Row, int N>
struct MapRows {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t length = args.out(0).shape.back(), rows = elements(args.out(0).shape) / length;
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        if constexpr (N == 1)
          for_each_row(Device{}, a.stream, rows, length, Row<T>{length, a.in<T>(0), a.out<T>(0)});
        else
          for_each_row(Device{}, a.stream, rows, length, Row<T>{length, a.in<T>(0), a.in<T>(1), a.out<T>(0)});
      });
    });
  }
};

/// Kernels of an op on rows (the last axis) of N inputs of one shape: Row<T>{length, inputs..., output}.
template <template <class> class Row, int N>
constexpr Kernels map_rows() {
  return each_device<MapRows<Row, N>>();
}

}  // namespace lethe
