#include "kernels/conv/cuda_launches.h"

#include "kernels/dtypes.h"

namespace lethe {
namespace {

template <class T>
struct Narrow {
  const float* from;
  T* to;
  HD void operator()(std::int64_t i) const { to[i] = static_cast<T>(from[i]); }
};

}  // namespace

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
