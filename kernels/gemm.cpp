#include "kernels/gemm.h"

#include "kernels/gemm_providers.h"

namespace lethe {

std::unique_ptr<Kernel> prepare_gemm(const GemmShape& shape, DType dtype, int threads, Provider provider) {
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype))
    if (auto kernel = prepare_gemm_onednn(shape, threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  return prepare_gemm_eigen(shape, dtype, threads);
}

}  // namespace lethe
