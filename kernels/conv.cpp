#include "kernels/conv.h"

#include "kernels/conv_providers.h"

namespace lethe {

std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, bool bias, DType dtype, int threads,
                                     Provider provider) {
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype))
    if (auto kernel = prepare_conv_onednn(pass, shape, bias, threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  return prepare_conv_im2col(pass, shape, bias, dtype, threads);
}

}  // namespace lethe
