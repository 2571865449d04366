// One thing on a GPU, another on the CPU, where a library's kernel learns from its device which it is.
#pragma once
#include "framework/language/device_info.h"

namespace lethe {

/// What `on_gpu` gives on a GPU, else what `on_cpu` gives. Without CUDA in the build nothing calls
/// `on_gpu`, so it may call what only CUDA's sources define.
template <class OnGpu, class OnCpu>
auto by_kind([[maybe_unused]] DeviceKind kind, [[maybe_unused]] const OnGpu& on_gpu, const OnCpu& on_cpu) {
#ifdef LETHE_HAS_CUDA
  if (kind == DeviceKind::Cuda) return on_gpu();
#endif
  return on_cpu();
}

}  // namespace lethe
