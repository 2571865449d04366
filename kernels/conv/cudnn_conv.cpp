#include "kernels/conv/cudnn_conv.h"

#include "framework/error.h"
#include "kernels/conv/providers.h"

namespace lethe {
namespace {

/// Unique ids of tensors: image, weight and response, whichever of them the pass computes; what is never in memory.
enum Id : std::int64_t { kX = 1, kW, kY, kBias, kPlain, kBiased };

/// cuDNN's names for an operation and its attributes.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t window, alpha, beta, x, w, y;
};

PassNames names_of(ConvPass pass) {
  switch (pass) {
    case ConvPass::Forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
    case ConvPass::GradInput:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
  }
}

cudnnDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDNN_DATA_DOUBLE;
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      check(dtype == DType::f16, "no convolution of ", name_of(dtype));
      return CUDNN_DATA_HALF;
  }
}

/// Sizes are given as N, C, H, W whatever the layout; strides say that C is innermost. Weights are laid out like
/// images.
CudnnDescriptor tensor(Id id, DType dtype, std::int64_t n, std::int64_t c, const Extent& size) {
  constexpr std::int64_t kAlignment = 16;
  const auto [h, w] = size;
  CudnnDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, {std::int64_t{id}});
  made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type_of(dtype));
  made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w});
  made.set(CUDNN_ATTR_TENSOR_STRIDES, {c * h * w, 1, c * w, c});
  made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {kAlignment});
  if (id == kPlain || id == kBiased) {
    const bool never_in_memory = true;
    made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &never_in_memory);
  }
  made.finalize("tensor");
  return made;
}

CudnnDescriptor window(const ConvShape& s, DType dtype) {
  const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  CudnnDescriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, type_of(wide_of(dtype)));
  made.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
  made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
  made.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {s.pad[0], s.pad[1]});
  made.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {s.pad[0], s.pad[1]});
  made.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {s.stride[0], s.stride[1]});
  made.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, {s.dilation[0], s.dilation[1]});
  made.finalize("window");
  return made;
}

/// cuDNN reads a factor in the type that the convolution computes in, whatever type it was set as: a double 1 is a
/// float 0 to it.
void set_factor(CudnnDescriptor& op, cudnnBackendAttributeName_t name, double value, DType dtype) {
  const auto single = static_cast<float>(value);
  if (dtype == DType::f64)
    op.set(name, CUDNN_TYPE_DOUBLE, 1, &value);
  else
    op.set(name, CUDNN_TYPE_FLOAT, 1, &single);
}

/// y = mode(x), or mode(x, b).
CudnnDescriptor pointwise(cudnnPointwiseMode_t mode, const CudnnDescriptor& x, const CudnnDescriptor* b,
                          const CudnnDescriptor& y, DType dtype) {
  const cudnnNanPropagation_t propagate = CUDNN_PROPAGATE_NAN;
  CudnnDescriptor kind(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), made(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  kind.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  kind.set(CUDNN_ATTR_POINTWISE_MATH_PREC, type_of(wide_of(dtype)));
  kind.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, 1, &propagate);
  kind.finalize("kind of a pointwise operation");
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kind);
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
  if (b) made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
  made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
  made.finalize("pointwise operation");
  return made;
}

/// The ids of the op's inputs and output, in their order.
std::vector<std::int64_t> ids_of(ConvPass pass, bool bias) {
  if (pass == ConvPass::GradInput) return {kY, kW, kX};
  if (pass == ConvPass::GradWeight) return {kX, kY, kW};
  return bias ? std::vector<std::int64_t>{kX, kW, kBias, kY} : std::vector<std::int64_t>{kX, kW, kY};
}

class CudnnConv final : public Kernel {
 public:
  CudnnConv(CudnnPlan plan, std::vector<std::int64_t> ids) : plan_(std::move(plan)), ids_(std::move(ids)) {}
  std::int64_t workspace_bytes() const override { return plan_.workspace(); }
  std::string implementation() const override { return "cuDNN"; }
  void run(const KernelArgs& args) const override {
    std::vector<void*> addresses(args.inputs, args.inputs + ids_.size() - 1);
    addresses.push_back(args.outputs[0]);
    plan_.execute(ids_, addresses, args.workspace, args.stream);
  }

 private:
  CudnnPlan plan_;
  std::vector<std::int64_t> ids_;
};

CudnnEngines engines_of(ConvPass pass, const ConvShape& s, const Epilogue& epilogue, DType dtype,
                        const DeviceInfo& device) {
  const CudnnDescriptor x = tensor(kX, dtype, s.batch, s.channels, s.in);
  const CudnnDescriptor w = tensor(kW, dtype, s.filters, s.channels / s.groups, s.kernel);
  const CudnnDescriptor y = tensor(kY, dtype, s.batch, s.filters, s.out);
  const CudnnDescriptor plain = tensor(kPlain, wide_of(dtype), s.batch, s.filters, s.out);
  const PassNames names = names_of(pass);
  CudnnDescriptor op(names.type);
  op.set(names.window, window(s, dtype));
  op.set(names.x, x);
  op.set(names.w, w);
  op.set(names.y, epilogue.is_empty() ? y : plain);
  set_factor(op, names.alpha, 1, dtype);
  set_factor(op, names.beta, 0, dtype);
  op.finalize("convolution");
  const std::string what = text_of(pass, s);
  const std::int64_t limit = workspace_limit(device);
  if (epilogue.is_empty()) return {{{&op}, dtype, false, what, limit}, device};
  if (!epilogue.bias) return {};
  const CudnnDescriptor bias = tensor(kBias, dtype, 1, s.filters, {1, 1});
  const CudnnDescriptor biased = tensor(kBiased, wide_of(dtype), s.batch, s.filters, s.out);
  const CudnnDescriptor add = pointwise(CUDNN_POINTWISE_ADD, plain, &bias, epilogue.relu ? biased : y, dtype);
  if (!epilogue.relu) return {{{&op, &add}, dtype, false, what, limit}, device};
  const CudnnDescriptor relu = pointwise(CUDNN_POINTWISE_RELU_FWD, biased, nullptr, y, dtype);
  return {{{&op, &add, &relu}, dtype, true, what, limit}, device};
}

/// All that the choice among its engines may depend on, beside the GPU and its libraries.
std::string key_of(ConvPass pass, const ConvShape& s, const Epilogue& epilogue, DType dtype, const DeviceInfo& device) {
  return message(text_of(pass, s), epilogue.bias ? ", bias" : "", epilogue.relu ? ", relu" : "", ", ", name_of(dtype),
                 ", up to ", workspace_limit(device), " bytes", device.tf32 ? ", TF32" : "",
                 device.fast_conv ? ", fast" : "");
}

}  // namespace

std::optional<CudnnPlan> plan_conv(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                   const DeviceInfo& device) {
  const CudnnEngines engines = engines_of(pass, shape, epilogue, dtype, device);
  if (engines.all().empty()) return std::nullopt;
  return engines.led_by(0);
}

std::unique_ptr<Kernel> prepare_conv_cudnn(ConvPass pass, const ConvShape& shape, const Epilogue& epilogue, DType dtype,
                                           const DeviceInfo& device) {
  const CudnnEngines engines = engines_of(pass, shape, epilogue, dtype, device);
  if (engines.all().empty()) return nullptr;
  const auto kernel = [&](CudnnPlan plan) {
    return std::make_unique<CudnnConv>(std::move(plan), ids_of(pass, epilogue.bias));
  };
  if (!device.trials) return kernel(engines.led_by(0));
  std::vector<Algorithm> algorithms;
  for (std::size_t i = 0; i < engines.all().size(); ++i)
    algorithms.push_back({message("engine ", engines.all()[i].index), [&, i] { return kernel(engines.alone(i)); }});
  const std::string what = key_of(pass, shape, epilogue, dtype, device);
  return kernel(
      engines.led_by(device.trials->best(what, algorithms, operands_of(pass, shape, dtype), device).algorithm));
}

}  // namespace lethe
