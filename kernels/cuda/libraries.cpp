#include "kernels/cuda/libraries.h"

#include "framework/error.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/cudnn_graph.h"
#include "kernels/cuda/current_gpu.h"

namespace lethe {

GpuLibraries::~GpuLibraries() {
  const CurrentGpu here(gpu_, std::nothrow);
  if (cudnn_) lethe::cudnn().destroy(cudnn_);
  if (cublaslt_) lethe::cublaslt().destroy(cublaslt_);
}

cudnnHandle_t GpuLibraries::cudnn() {
  if (cudnn_) return cudnn_;
  const CurrentGpu here(gpu_);
  check_cudnn(lethe::cudnn().create(&cudnn_), "handle");
  check_cudnn(lethe::cudnn().set_stream(cudnn_, static_cast<cudaStream_t>(stream_)), "stream");
  return cudnn_;
}

cublasLtHandle_t GpuLibraries::cublaslt() {
  const CurrentGpu here(gpu_);
  if (!cublaslt_) check_cublaslt(lethe::cublaslt().create(&cublaslt_), "handle");
  return cublaslt_;
}

std::shared_ptr<GpuLibraries> libraries_of(const DeviceInfo& device) {
  check_as(Exit::Internal, device.libraries != nullptr, device.name, ": kernels are prepared for an opened GPU");
  return device.libraries;
}

}  // namespace lethe
