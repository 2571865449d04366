#include "kernels/conv/conv.h"

#include <algorithm>

#include "kernels/conv/providers.h"

#ifdef LETHE_HAS_CUDA
#include <cstdio>
#include <string>

#include "framework/error.h"
#endif

namespace lethe {
#ifdef LETHE_HAS_CUDA
namespace {

std::string text_of(ConvPass pass, const ConvShape& s) {
  const char* const what = pass == ConvPass::Forward     ? "a convolution"
                           : pass == ConvPass::GradInput ? "the input gradient of a convolution"
                                                         : "the weight gradient of a convolution";
  return message(what, " of [", s.batch, ',', s.in[0], ',', s.in[1], ',', s.channels, "] by ", s.filters,
                 " filters of ", s.kernel[0], 'x', s.kernel[1], ", stride ", s.stride[0], 'x', s.stride[1],
                 ", dilation ", s.dilation[0], 'x', s.dilation[1], ", ", s.groups,
                 s.groups == 1 ? " group" : " groups");
}

std::unique_ptr<Kernel> prepare_on_gpu(ConvPass pass, const ConvShape& s, const Epilogue& epilogue, DType dtype,
                                       const DeviceInfo& device) {
  if (auto kernel = prepare_conv_cudnn(pass, s, epilogue, dtype, device)) return kernel;
  auto kernel = epilogue.is_empty() ? nullptr : prepare_conv_cudnn(pass, s, {}, dtype, device);
  if (!kernel) {
    kernel = prepare_conv_unfold(pass, s, dtype, device);
    std::fprintf(stderr, "%s\n",
                 message("cuDNN has no engine for ", text_of(pass, s), " in ", name_of(dtype), " within ",
                         device.workspace_limit, " bytes of workspace: computed by im2col and cuBLAS in ",
                         kernel->workspace_bytes())
                     .c_str());
  }
  return with_epilogue(std::move(kernel), epilogue, s.batch * s.out[0] * s.out[1], s.filters, dtype, device);
}

}  // namespace
#endif

namespace {

/// With fewer channels on either side, transforming tiles takes longer than it saves; with fewer pixels, transforming
/// kernels does.
bool is_for_winograd(const ConvShape& s) {
  constexpr std::int64_t kFewestChannels = 16, kFewestPixels = 768;
  return std::min(s.channels, s.filters) >= kFewestChannels && s.batch * s.out[0] * s.out[1] >= kFewestPixels;
}

std::unique_ptr<Kernel> prepare_on_cpu(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                       const DeviceInfo& device, Provider provider) {
  if (provider == Provider::Best && dtype == DType::f32 && device.winograd && is_for_winograd(shape))
    if (auto kernel = prepare_conv_winograd(pass, shape, bias, device.threads)) return kernel;
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype))
    if (auto kernel = prepare_conv_onednn(pass, shape, bias, dtype, device.threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  if (wide_of(dtype) != dtype) return prepare_conv_widened(pass, shape, bias, dtype, device);
  return prepare_conv_im2col(pass, shape, bias, dtype, device.threads);
}

}  // namespace

std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                     const DeviceInfo& device, Provider provider) {
#ifdef LETHE_HAS_CUDA
  if (device.kind == DeviceKind::Cuda) return prepare_on_gpu(pass, shape, epilogue, dtype, device);
#endif
  return with_epilogue(prepare_on_cpu(pass, shape, epilogue.bias, dtype, device, provider), {.relu = epilogue.relu},
                       shape.batch * shape.out[0] * shape.out[1], shape.filters, dtype, device);
}

}  // namespace lethe
