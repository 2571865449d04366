#include "kernels/gemm.h"

#include "kernels/gemm_providers.h"
#include "kernels/widened.h"

namespace lethe {

std::unique_ptr<Kernel> prepare_gemm(const GemmShape& shape, DType dtype, const DeviceInfo& device, Provider provider) {
#ifdef LETHE_HAS_CUDA
  if (device.kind == DeviceKind::Cuda) return prepare_gemm_cublaslt(shape, dtype, device);
#endif
  if (wide_of(dtype) != dtype) return prepare_gemm_widened(shape, dtype, device);
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype) && shape.is_dense() && !shape.accumulate)
    if (auto kernel = prepare_gemm_onednn(shape, device.threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  return prepare_gemm_eigen(shape, dtype, device.threads);
}

}  // namespace lethe
