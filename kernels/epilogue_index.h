// One element of an epilogue, both devices.
#pragma once
#include "kernels/activation.h"
#include "kernels/divisor.h"
#include "kernels/each_device.h"

namespace lethe {

template <class T>
struct EpilogueIndex {
  Divisor columns;
  const T* bias;  // null: none
  bool relu;
  T* y;
  HD void operator()(std::int64_t i) const {
    Compute<T> value = y[i];
    if (bias) value += bias[columns.remainder(i)];
    y[i] = relu ? Relu{}(value) : value;
  }
};

template <class Device>
void apply_epilogue(Device device, void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias,
                    bool relu, void* y) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(device, stream, rows * columns,
                 EpilogueIndex<T>{Divisor(columns), static_cast<const T*>(bias), relu, static_cast<T*>(y)});
  });
}

}  // namespace lethe
