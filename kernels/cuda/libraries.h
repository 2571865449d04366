// What cuDNN and cuBLASLt keep for one opened GPU. It belongs to the device: two devices share nothing.
#pragma once
#include <cublasLt.h>
#include <cudnn.h>

#include "framework/device_info.h"

namespace lethe {

/// Handles, made when first asked for, and given back with the device and its kernels. Used by one thread at a time, as
/// the device is.
class GpuLibraries {
 public:
  /// cuDNN's work goes to `stream` of that GPU.
  GpuLibraries(int gpu, void* stream) : gpu_(gpu), stream_(stream) {}
  ~GpuLibraries();
  GpuLibraries(const GpuLibraries&) = delete;
  GpuLibraries& operator=(const GpuLibraries&) = delete;

  cudnnHandle_t cudnn();
  cublasLtHandle_t cublaslt();

 private:
  int gpu_;
  void* stream_;
  cudnnHandle_t cudnn_ = nullptr;
  cublasLtHandle_t cublaslt_ = nullptr;
};

/// Those of a GPU that is there; fails for one that was not opened.
std::shared_ptr<GpuLibraries> libraries_of(const DeviceInfo& device);

}  // namespace lethe
