#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "kernels/conv/providers.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/workers.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

using dnnl::memory;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

constexpr dnnl::algorithm kDirect = dnnl::algorithm::convolution_direct;  // oneDNN has Winograd for other layouts

/// A convolution as oneDNN is told of it: activations NHWC, weights in the layout that it likes best.
struct ConvDescs {
  memory::desc x, y, bias, our_weight, any_weight;
  memory::dims stride, pad, dilation;  // dilation counts from 0 here
};

ConvDescs descs_of(const ConvShape& s, bool bias, DType dtype) {
  const auto type = onednn_type(dtype);
  const auto [kh, kw] = s.kernel;
  const std::int64_t filters = s.filters / s.groups, channels = s.channels / s.groups;
  memory::dims sizes = {filters, channels, kh, kw}, strides = {kh * kw * channels, 1, kw * channels, channels};
  if (s.groups > 1) {
    sizes.insert(sizes.begin(), s.groups);
    strides.insert(strides.begin(), filters * kh * kw * channels);
  }
  return {.x = {{s.batch, s.channels, s.in[0], s.in[1]}, type, memory::format_tag::nhwc},
          .y = {{s.batch, s.filters, s.out[0], s.out[1]}, type, memory::format_tag::nhwc},
          .bias = bias ? memory::desc({s.filters}, type, memory::format_tag::a) : memory::desc(),
          .our_weight = {sizes, type, strides},
          .any_weight = {sizes, type, memory::format_tag::any},
          .stride = {s.stride[0], s.stride[1]},
          .pad = {s.pad[0], s.pad[1]},
          .dilation = {s.dilation[0] - 1, s.dilation[1] - 1}};
}

/// What oneDNN made of it.
struct Convolution {
  dnnl::primitive primitive;
  memory::desc weight, scratch;
  std::string name;  // of oneDNN's code
};

/// Nothing if there is no fast code for this shape.
template <class Primitive, class Desc = typename Primitive::primitive_desc>
std::optional<Convolution> convolution(Desc desc, memory::desc (Desc::*weight)() const, bool tiles) {
  if (!find_code(desc, tiles)) return std::nullopt;
  return Convolution{Primitive(desc), (desc.*weight)(), desc.scratchpad_desc(), desc.impl_info_str()};
}

std::optional<Convolution> make(ConvPass pass, const ConvDescs& d, bool tiles, const dnnl::engine& engine) {
  const auto forward = describe<Forward>(engine, dnnl::prop_kind::forward_training, kDirect, d.x, d.any_weight, d.bias,
                                         d.y, d.stride, d.dilation, d.pad, d.pad);
  const auto backward = [&]<class Primitive>(auto weight) {
    return convolution<Primitive>(describe_backward<Primitive>(engine, forward, kDirect, d.x, d.any_weight, d.y,
                                                               d.stride, d.dilation, d.pad, d.pad),
                                  weight, tiles);
  };
  switch (pass) {
    case ConvPass::Forward:
      return convolution<Forward>(forward, &Forward::primitive_desc::weights_desc, tiles);
    case ConvPass::GradInput:
      return backward.operator()<BackwardData>(&BackwardData::primitive_desc::weights_desc);
    default:
      return backward.operator()<BackwardWeights>(&BackwardWeights::primitive_desc::diff_weights_desc);
  }
}

/// Workspace: the weights or their gradient in oneDNN's layout, if that is not ours; then scratch memory, which the
/// convolution and the reorder use in turn.
class OnednnConv final : public Kernel {
 public:
  OnednnConv(ConvPass pass, const ConvDescs& descs, const OnednnContext& context, const Convolution& made)
      : pass_(pass), context_(context), conv_(call(made, descs)), name_(made.name) {
    reorder_ = pass == ConvPass::GradWeight ? OnednnReorder(context_, made.weight, descs.our_weight)
                                            : OnednnReorder(context_, descs.our_weight, made.weight);
    if (reorder_.needed()) weight_bytes_ = aligned(static_cast<std::int64_t>(made.weight.get_size()));
    scratch_bytes_ = aligned(std::max(static_cast<std::int64_t>(made.scratch.get_size()), reorder_.scratch_bytes()));
  }

  std::int64_t workspace_bytes() const override { return weight_bytes_ + scratch_bytes_; }
  std::string implementation() const override { return "oneDNN " + name_ + (reorder_.needed() ? ", reorder" : ""); }

  void run(const KernelArgs& args) const override {
    void* const weight = args.workspace;
    void* const scratch = static_cast<char*>(args.workspace) + weight_bytes_;
    if (pass_ == ConvPass::GradWeight) {
      void* const dw = args.outputs[0];
      conv_.run(context_, {args.inputs[0], args.inputs[1], reorder_.needed() ? weight : dw, scratch});
      if (reorder_.needed()) reorder_.run(context_, weight, dw, scratch);
      return;
    }
    const void* used = args.inputs[1];
    if (reorder_.needed()) {
      reorder_.run(context_, used, weight, scratch);
      used = weight;
    }
    if (pass_ == ConvPass::GradInput)
      conv_.run(context_, {args.inputs[0], used, args.outputs[0], scratch});
    else
      conv_.run(context_, {args.inputs[0], used, bias_ ? args.inputs[2] : nullptr, args.outputs[0], scratch});
  }

 private:
  OnednnCall call(const Convolution& made, const ConvDescs& d) {
    switch (pass_) {
      case ConvPass::Forward:
        bias_ = d.bias.get_size() != 0;
        return {context_,
                made.primitive,
                {{DNNL_ARG_SRC, d.x},
                 {DNNL_ARG_WEIGHTS, made.weight},
                 {DNNL_ARG_BIAS, d.bias},
                 {DNNL_ARG_DST, d.y},
                 {DNNL_ARG_SCRATCHPAD, made.scratch}}};
      case ConvPass::GradInput:
        return {context_,
                made.primitive,
                {{DNNL_ARG_DIFF_DST, d.y},
                 {DNNL_ARG_WEIGHTS, made.weight},
                 {DNNL_ARG_DIFF_SRC, d.x},
                 {DNNL_ARG_SCRATCHPAD, made.scratch}}};
      default:
        return {context_,
                made.primitive,
                {{DNNL_ARG_SRC, d.x},
                 {DNNL_ARG_DIFF_DST, d.y},
                 {DNNL_ARG_DIFF_WEIGHTS, made.weight},
                 {DNNL_ARG_SCRATCHPAD, made.scratch}}};
    }
  }

  ConvPass pass_;
  bool bias_ = false;
  OnednnContext context_;
  OnednnCall conv_;
  OnednnReorder reorder_;
  std::string name_;
  std::int64_t weight_bytes_ = 0, scratch_bytes_ = 0;
};

/// oneDNN counts in 32 bits, and takes seconds or all memory to prepare windows that reach thousands of pixels.
bool is_for_onednn(const ConvShape& s) {
  constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max(), kMostReach = 4096;
  const auto most = [](const Extent& e) { return std::max(e[0], e[1]); };
  return std::max({s.batch, s.channels, s.filters, most(s.in), most(s.out)}) <= kMostSize &&
         std::max({most(s.kernel), most(s.stride), most(s.pad), most(s.dilation)}) <= kMostReach;
}

}  // namespace

std::unique_ptr<Kernel> prepare_conv_onednn(ConvPass pass, const ConvShape& shape, bool bias, DType dtype, int threads,
                                            bool tiles) {
  if (!is_for_onednn(shape)) return nullptr;
  const Workers workers(threads);  // primitives are made for so many
  const OnednnContext context;
  const ConvDescs descs = descs_of(shape, bias && pass == ConvPass::Forward, dtype);
  const auto made = make(pass, descs, tiles, context.engine);
  return made ? std::make_unique<OnednnConv>(pass, descs, context, *made) : nullptr;
}

}  // namespace lethe
