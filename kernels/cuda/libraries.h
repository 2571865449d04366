// The stream of one opened GPU, and what cuDNN and cuBLASLt keep for it. Two devices share nothing of that.
#pragma once
#include <cublasLt.h>
#include <cudnn.h>

#include "framework/language/device_info.h"

namespace lethe {

/// Handles, made when first asked for. All is given back with the last of the device, its kernels and copies of its
/// DeviceInfo. Used by one thread at a time, as the device is.
class GpuLibraries {
 public:
  explicit GpuLibraries(int gpu);
  ~GpuLibraries();
  GpuLibraries(const GpuLibraries&) = delete;
  GpuLibraries& operator=(const GpuLibraries&) = delete;

  int gpu() const { return gpu_; }
  void* stream() const { return stream_; }
  /// Its work goes to the stream.
  cudnnHandle_t cudnn();
  cublasLtHandle_t cublaslt();

 private:
  int gpu_;
  cudaStream_t stream_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  cublasLtHandle_t cublaslt_ = nullptr;
};

/// Those of a GPU that is there; fails for one that was not opened.
std::shared_ptr<GpuLibraries> libraries_of(const DeviceInfo& device);

}  // namespace lethe
