#include "kernels/cuda_current.h"

#include <cuda_runtime_api.h>

#include "framework/error.h"

namespace lethe {
namespace {

void done(cudaError_t status, int index) {
  check_as(Exit::Device, status == cudaSuccess, "cuda:", index, ": turning to it failed: ", cudaGetErrorString(status));
}

}  // namespace

int current_gpu() {
  int index = 0;
  done(cudaGetDevice(&index), index);
  return index;
}

CurrentGpu::CurrentGpu(int index) : before_(current_gpu()), index_(index) {
  if (index_ != before_) done(cudaSetDevice(index_), index_);
}

CurrentGpu::~CurrentGpu() {
  if (index_ != before_) cudaSetDevice(before_);
}

}  // namespace lethe
