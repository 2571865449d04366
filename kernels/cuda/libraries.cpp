#include "kernels/cuda/libraries.h"

#include <cuda_runtime_api.h>

#include "framework/error.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/cudnn_graph.h"
#include "kernels/cuda/current_gpu.h"

namespace lethe {

GpuLibraries::GpuLibraries(int gpu) : gpu_(gpu) {
  const CurrentGpu here(gpu);
  const cudaError_t status = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  check_as(Exit::Device, status == cudaSuccess, "cuda:", gpu, ": a stream failed: ", cudaGetErrorString(status));
}

GpuLibraries::~GpuLibraries() {
  const CurrentGpu here(gpu_, std::nothrow);
  if (cudnn_) lethe::cudnn().destroy(cudnn_);
  if (cublaslt_) lethe::cublaslt().destroy(cublaslt_);
  cudaStreamDestroy(stream_);
}

cudnnHandle_t GpuLibraries::cudnn() {
  if (cudnn_) return cudnn_;
  const CurrentGpu here(gpu_);
  cudnnHandle_t made = nullptr;
  check_cudnn(lethe::cudnn().create(&made), "handle");
  if (const cudnnStatus_t status = lethe::cudnn().set_stream(made, stream_); status != CUDNN_STATUS_SUCCESS) {
    lethe::cudnn().destroy(made);
    check_cudnn(status, "stream");
  }
  return cudnn_ = made;
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
