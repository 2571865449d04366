#include "kernels/conv.h"

#include "kernels/conv_providers.h"
#include "kernels/widened.h"

#ifdef LETHE_HAS_CUDA
#include <cstdio>
#include <string>

#include "framework/error.h"
#include "kernels/cuda_launches.h"
#endif

namespace lethe {
#ifdef LETHE_HAS_CUDA
namespace {

/// A convolution that leaves adding the bias to us.
class BiasAfter final : public Kernel {
 public:
  BiasAfter(std::unique_ptr<Kernel> conv, DType dtype, const ConvShape& s)
      : conv_(std::move(conv)), dtype_(dtype), positions_(s.batch * s.out[0] * s.out[1]), filters_(s.filters) {}
  std::int64_t workspace_bytes() const override { return conv_->workspace_bytes(); }
  void run(const KernelArgs& args) const override {
    conv_->run(args);
    launch_add_bias(args.stream, dtype_, positions_, filters_, args.inputs[2], args.outputs[0]);
  }

 private:
  std::unique_ptr<Kernel> conv_;
  DType dtype_;
  std::int64_t positions_, filters_;
};

std::string text_of(ConvPass pass, const ConvShape& s) {
  const char* const what = pass == ConvPass::Forward     ? "a convolution"
                           : pass == ConvPass::GradInput ? "the input gradient of a convolution"
                                                         : "the weight gradient of a convolution";
  return message(what, " of [", s.batch, ',', s.in[0], ',', s.in[1], ',', s.channels, "] by ", s.filters,
                 " filters of ", s.kernel[0], 'x', s.kernel[1], ", stride ", s.stride[0], 'x', s.stride[1],
                 ", dilation ", s.dilation[0], 'x', s.dilation[1], ", ", s.groups,
                 s.groups == 1 ? " group" : " groups");
}

std::unique_ptr<Kernel> prepare_on_gpu(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                       const DeviceInfo& device) {
  if (auto kernel = prepare_conv_cudnn(pass, shape, bias, dtype, device)) return kernel;
  auto kernel = bias ? prepare_conv_cudnn(pass, shape, false, dtype, device) : nullptr;
  if (kernel) return std::make_unique<BiasAfter>(std::move(kernel), dtype, shape);
  kernel = prepare_conv_unfold(pass, shape, dtype, device);
  std::fprintf(stderr, "%s\n",
               message("cuDNN has no engine for ", text_of(pass, shape), " in ", name_of(dtype), " within ",
                       device.workspace_limit, " bytes of workspace: computed by im2col and cuBLAS in ",
                       kernel->workspace_bytes())
                   .c_str());
  if (bias) return std::make_unique<BiasAfter>(std::move(kernel), dtype, shape);
  return kernel;
}

}  // namespace
#endif

std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                     const DeviceInfo& device, Provider provider) {
#ifdef LETHE_HAS_CUDA
  if (device.kind == DeviceKind::Cuda) return prepare_on_gpu(pass, shape, bias, dtype, device);
#endif
  if (wide_of(dtype) != dtype) return prepare_conv_widened(pass, shape, bias, dtype, device);
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype))
    if (auto kernel = prepare_conv_onednn(pass, shape, bias, device.threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  return prepare_conv_im2col(pass, shape, bias, dtype, device.threads);
}

}  // namespace lethe
