#include "kernels/conv.h"

#include "kernels/conv_providers.h"

#ifdef LETHE_HAS_CUDA
#include <limits>

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

std::unique_ptr<Kernel> prepare_on_gpu(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                       const DeviceInfo& device) {
  if (auto kernel = prepare_conv_cudnn(pass, shape, bias, dtype, device)) return kernel;
  auto kernel = bias ? prepare_conv_cudnn(pass, shape, false, dtype, device) : nullptr;
  if (kernel) return std::make_unique<BiasAfter>(std::move(kernel), dtype, shape);
  DeviceInfo unlimited = device;
  unlimited.workspace_limit = std::numeric_limits<std::int64_t>::max();
  kernel = prepare_conv_cudnn(pass, shape, false, dtype, unlimited);
  check_as(Exit::Device, kernel != nullptr, "cuDNN has no engine for this convolution");
  fail("no engine of cuDNN computes this convolution in a workspace of ", device.workspace_limit,
       " bytes (--workspace-limit); its own choice takes ", kernel->workspace_bytes());
}

}  // namespace
#endif

std::unique_ptr<Kernel> prepare_conv(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                     const DeviceInfo& device, Provider provider) {
#ifdef LETHE_HAS_CUDA
  if (device.kind == DeviceKind::Cuda) return prepare_on_gpu(pass, shape, bias, dtype, device);
#endif
#ifdef LETHE_HAS_ONEDNN
  if (means_onednn(provider, dtype))
    if (auto kernel = prepare_conv_onednn(pass, shape, bias, device.threads)) return kernel;
#else
  means_onednn(provider, dtype);
#endif
  return prepare_conv_im2col(pass, shape, bias, dtype, device.threads);
}

}  // namespace lethe
