// The parameter-free shortcut of residual networks (He et al., 2015, option A): every `stride`-th pixel, and channels
// of zeros around the old ones up to `out`, half of them in front (rounded down), the rest after.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

std::int64_t in_front(std::int64_t out, std::int64_t in) { return (out - in) / 2; }

/// Where the pixels that stay stand in `big` [N,H,W,C] before, and in `small` [N,h,w,out] after.
struct Kept {
  Shape size, big, small;
};
Kept kept_of(const Shape& big, const Shape& small, const Ints& stride) {
  Kept kept{{small[0], small[1], small[2], big[3]}, strides_of(big), strides_of(small)};
  kept.big[1] *= stride[0];
  kept.big[2] *= stride[1];
  return kept;
}

struct PadChannels {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &x = args.in(0).shape, &y = args.out(0).shape;
    const Kept kept = kept_of(x, y, args.op.attrs.ints("stride"));
    return copy_parts<Device>(args, {{.box = make_box(kept.size, kept.small, kept.big), .to = in_front(y[3], x[3])}},
                              true);
  }
};

struct PadChannelsGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape &dy = args.in(0).shape, &dx = args.out(0).shape;
    const Kept kept = kept_of(dx, dy, args.op.attrs.ints("stride"));
    return copy_parts<Device>(
        args, {{.box = make_box(kept.size, kept.big, kept.small), .from = in_front(dy[3], dx[3])}}, true);
  }
};

std::vector<Type> infer_pad_channels(const InferArgs& args) {
  const Var& x = args.in(0);
  const Ints& stride = args.op.attrs.ints("stride");
  const std::int64_t out = args.op.attrs.integer("out");
  check(x.shape.size() == 4, "pad_channels: input is ", text_of(x.shape), ", expected [N,H,W,C]");
  check(stride.size() == 2 && stride[0] > 0 && stride[1] > 0, "pad_channels: stride is ", text_of(stride),
        ", expected two positive numbers");
  check(out >= x.shape[3], "pad_channels: out is ", out, ", input has ", x.shape[3], " channels");
  const std::int64_t height = (x.shape[1] - 1) / stride[0] + 1, width = (x.shape[2] - 1) / stride[1] + 1;
  return {{{x.shape[0], height, width, out}, x.dtype}};
}

void pad_channels_grad_rule(GradBuilder& g) {
  g.set(0, "pad_channels_grad", {g.dy()}, {{"shape", g.var(g.x(0)).shape}, {"stride", g.attrs().ints("stride")}});
}

VarId build_pad_channels(LayerCall& c) {
  c.image();
  const auto stride = c.pair("stride");
  return c.emit("pad_channels", {c.in()},
                {{"out", c.settings().integer("out")}, {"stride", Ints{stride[0], stride[1]}}});
}

const Register pad_channels{{
    .type = "pad_channels",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_pad_channels,
    .grad = pad_channels_grad_rule,
    .kernels = each_device<PadChannels>(),
    .layer = {.name = "pad_channels",
              .keys = {{.name = "out", .type = KeyType::Int, .min = 1, .help = "channels afterwards"},
                       {.name = "stride",
                        .type = KeyType::IntPair,
                        .absent = 1,
                        .min = 1,
                        .max = kMostPixels,
                        .help = "takes every n-th pixel"}},
              .build = build_pad_channels,
              .help = "channels of zeros, half in front and half after; with a stride fewer pixels"},
}};

const Register pad_channels_grad{{
    .type = "pad_channels_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{args.op.attrs.ints("shape"), args.in(0).dtype}};
    },
    .kernels = each_device<PadChannelsGrad>(),
}};

}  // namespace
}  // namespace lethe
