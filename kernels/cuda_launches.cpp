#include "kernels/cuda_launches.h"

#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T>
struct AddBias {
  Divisor columns;
  const T* bias;
  T* y;
  HD void operator()(std::int64_t i) const { y[i] = y[i] + bias[columns.remainder(i)]; }
};

template <class T>
struct Narrow {
  const float* from;
  T* to;
  HD void operator()(std::int64_t i) const { to[i] = static_cast<T>(from[i]); }
};

}  // namespace

void launch_add_bias(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, void* y) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(Cuda{}, stream, rows * columns,
                 AddBias<T>{Divisor(columns), static_cast<const T*>(bias), static_cast<T*>(y)});
  });
}

void launch_narrow(void* stream, DType dtype, std::int64_t n, const void* from, void* to) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(Cuda{}, stream, n, Narrow<T>{static_cast<const float*>(from), static_cast<T*>(to)});
  });
}

void launch_unfold(void* stream, DType dtype, const Windows& windows, const void* image, void* columns) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    unfold_windows(Cuda{}, stream, windows, static_cast<const T*>(image), static_cast<T*>(columns));
  });
}

void launch_fold(void* stream, DType dtype, const Windows& windows, const void* columns, void* image) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    fold_windows(Cuda{}, stream, windows, static_cast<const Compute<T>*>(columns), static_cast<T*>(image));
  });
}

}  // namespace lethe
