#include "kernels/cuda/current_gpu.h"

#include <cuda_runtime_api.h>

#include "framework/error.h"

namespace lethe {

int current_gpu() {
  int index = 0;
  const cudaError_t status = cudaGetDevice(&index);
  check_as(Exit::Device, status == cudaSuccess,
           "cuda: asking for the current GPU failed: ", cudaGetErrorString(status));
  return index;
}

bool is_recorded(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  return status != cudaStreamCaptureStatusNone;
}

void forget_error() { cudaGetLastError(); }

CurrentGpu::CurrentGpu(int index) : before_(current_gpu()), index_(index) {
  if (index_ == before_) return;
  const cudaError_t status = cudaSetDevice(index_);
  check_as(Exit::Device, status == cudaSuccess, "cuda:", index_,
           ": turning to it failed: ", cudaGetErrorString(status));
}

CurrentGpu::CurrentGpu(int index, std::nothrow_t) noexcept : before_(index), index_(index) {
  if (cudaGetDevice(&before_) == cudaSuccess && index_ != before_) cudaSetDevice(index_);
}

CurrentGpu::~CurrentGpu() {
  if (index_ != before_) cudaSetDevice(before_);
}

}  // namespace lethe
