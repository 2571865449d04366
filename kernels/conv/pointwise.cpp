#include "kernels/conv/providers.h"
#include "kernels/gemm/gemm.h"

namespace lethe {
namespace {

/// A 1x1 convolution of stride 1 as what it is: pixels [pixels, channels] times the weights [filters, channels]
/// transposed. Its gradients are products, too.
GemmShape product_of(ConvPass pass, const ConvShape& s, bool bias) {
  const std::int64_t pixels = s.batch * s.in[0] * s.in[1];
  switch (pass) {
    case ConvPass::Forward:
      return {.m = pixels, .n = s.filters, .k = s.channels, .transpose_b = true, .epilogue = {.bias = bias}};
    case ConvPass::GradInput:
      return {.m = pixels, .n = s.channels, .k = s.filters};
    default:
      return {.m = s.filters, .n = s.channels, .k = pixels, .transpose_a = true};
  }
}

class PointwiseConv final : public Kernel {
 public:
  PointwiseConv(ConvPass pass, const ConvShape& s, bool bias, DType dtype, const DeviceInfo& device)
      : swaps_(pass == ConvPass::GradWeight), product_(prepare_gemm(product_of(pass, s, bias), dtype, device)) {}
  std::int64_t workspace_bytes() const override { return product_->workspace_bytes(); }
  std::string implementation() const override { return "product, " + product_->implementation(); }
  void run(const KernelArgs& args) const override {
    if (!swaps_) return product_->run(args);
    void* const factors[] = {args.inputs[1], args.inputs[0]};  // dy, x
    product_->run({.inputs = factors, .outputs = args.outputs, .workspace = args.workspace, .stream = args.stream});
  }

 private:
  bool swaps_;
  std::unique_ptr<Kernel> product_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_conv_pointwise(ConvPass pass, const ConvShape& shape, bool bias, DType dtype,
                                               const DeviceInfo& device) {
  const Extent one = {1, 1}, none = {0, 0};
  if (shape.kernel != one || shape.stride != one || shape.pad != none || shape.groups != 1) return nullptr;
  return std::make_unique<PointwiseConv>(pass, shape, bias && pass == ConvPass::Forward, dtype, device);
}

}  // namespace lethe
