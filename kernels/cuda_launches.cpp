#include "kernels/cuda_launches.h"

#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T>
struct AddBias {
  std::int64_t columns;
  const T* bias;
  T* y;
  HD void operator()(std::int64_t i) const { y[i] += bias[i % columns]; }
};

}  // namespace

void launch_add_bias(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, void* y) {
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(Cuda{}, stream, rows * columns, AddBias<T>{columns, static_cast<const T*>(bias), static_cast<T*>(y)});
  });
}

}  // namespace lethe
