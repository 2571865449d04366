// The transpose of a convolution, which is the gradient by its input: every pixel of x [N, h, w, C] adds its multiple
// of the kernel to y [N, H, W, O], `stride` apart; H = (h - 1) * stride - 2 * pad + (kh - 1) * dilation + 1 +
// output_padding. Weights are [C, kh, kw, O / groups].
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/conv/attrs.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

constexpr const char* kTransposed = "conv2d_transpose";

/// The convolution that it is the transpose of: of y, to x.
ConvShape transposed_shape(const Shape& x, const Shape& weight, const Attrs& attrs) {
  check(x.size() == 4, kTransposed, ": input is ", text_of(x), ", expected an image [N,H,W,C]");
  check_weight(kTransposed, weight, "[channels,height,width,filters]");
  ConvShape s{.batch = x[0],
              .filters = x[3],
              .groups = attrs.integer("groups", 1),
              .out = {x[1], x[2]},
              .kernel = {weight[1], weight[2]},
              .stride = extent_of(kTransposed, attrs, "stride", 1, 1),
              .pad = extent_of(kTransposed, attrs, "pad", 0, 0),
              .dilation = extent_of(kTransposed, attrs, "dilation", 1, 1)};
  check(s.groups >= 1, kTransposed, ": groups is ", s.groups, ", expected at least 1");
  check(weight[0] == x[3], kTransposed, ": input has ", x[3], " channels, weight expects ", weight[0]);
  check(x[3] % s.groups == 0, kTransposed, ": input has ", x[3], " channels, which ", s.groups,
        " groups do not divide");
  s.channels = checked_mul(weight[3], s.groups, "conv2d_transpose: the number of filters");
  const Extent output_padding = extent_of(kTransposed, attrs, "output_padding", 0, 0);
  for (const int axis : {0, 1}) {
    check(output_padding[axis] < s.stride[axis], kTransposed, ": output_padding is ", output_padding[axis],
          ", expected less than the stride ", s.stride[axis]);
    const char* const size = axis == 0 ? "conv2d_transpose: the height" : "conv2d_transpose: the width";
    const std::int64_t spread = checked_mul(s.out[axis] - 1, s.stride[axis], size),
                       reached = checked_add(spread, reach_of(s.kernel[axis], s.dilation[axis]), size);
    s.in[axis] = checked_add(reached, output_padding[axis], size) - checked_mul(2, s.pad[axis], "a padding");
    check(s.in[axis] >= 1, kTransposed, ": padding ", s.pad[axis], " leaves nothing of the ",
          axis == 0 ? "height" : "width");
  }
  check_windows(kTransposed, s);
  return s;
}

std::vector<Type> infer_transposed(const InferArgs& args) {
  const DType dtype = args.in(0).dtype;
  const ConvShape s = transposed_shape(args.in(0).shape, args.in(1).shape, args.op.attrs);
  check_input(args, 1, {args.in(1).shape, dtype});
  check_input(args, 2, {{s.channels}, dtype});
  return {{{s.batch, s.in[0], s.in[1], s.channels}, dtype}};
}

void transposed_gradient(GradBuilder& g) {
  const Shape& weight = g.var(g.x(1)).shape;
  Attrs of_input, of_weight;
  for (const auto& [key, value] : g.attrs())
    if (key != "output_padding") of_input.set(key, value);
  of_weight = of_input;
  of_weight.set("kernel", Ints{weight[1], weight[2]});
  g.set(0, "conv2d", {g.dy(), g.x(1)}, of_input);
  g.set(1, "conv2d_grad_weight", {g.dy(), g.x(0)}, of_weight);
  g.set(2, "bias_grad", {g.dy()});
}

VarId build_transposed(LayerCall& c) {
  const Attrs& settings = c.settings();
  const std::int64_t out = settings.integer("out"), groups = settings.integer("groups"), channels = c.image()[3];
  check(channels % groups == 0 && out % groups == 0, "conv_transpose: ", groups, " groups do not divide ", channels,
        " channels and ", out, " filters");
  const Extent kernel = c.pair("k"), stride = c.pair("stride"), dilation = c.pair("dilation"),
               pad = c.pad("pad", kernel, dilation), output_padding = c.pair("output_padding");
  const auto products = [&](std::int64_t count) { return elements({kernel[0], kernel[1], count / groups}); };
  // A pixel of the output sums about this many products.
  const std::int64_t terms = std::max<std::int64_t>(1, products(channels) / (stride[0] * stride[1]));
  const Init he{.kind = Init::He, .fan_in = terms, .fan_out = products(out)};
  const VarId weight =
      c.param("weight", {channels, kernel[0], kernel[1], out / groups}, c.init("init", he), true, {FileLayout::Conv});
  const VarId bias = settings.flag("bias") ? c.param("bias", {out}, {}, false) : kNone;
  return c.emit("conv2d_transpose", {c.in(), weight, bias},
                {{"stride", Ints{stride[0], stride[1]}},
                 {"pad", Ints{pad[0], pad[1]}},
                 {"output_padding", Ints{output_padding[0], output_padding[1]}},
                 {"dilation", Ints{dilation[0], dilation[1]}},
                 {"groups", groups}});
}

const Register conv2d_transpose{{
    .type = "conv2d_transpose",
    .inputs = {"x", "weight", "bias?"},
    .outputs = {"y"},
    .infer = infer_transposed,
    .grad = transposed_gradient,
    .mult_adds =
        [](const InferArgs& args) {
          const Shape& weight = args.in(1).shape;  // the inputs come first
          return checked_mul(elements(args.in(0).shape), elements(weight) / std::max<std::int64_t>(weight[0], 1),
                             "the number of multiply-adds");
        },
    .activates = Activates::OnGpu,
    .kernels = library_kernels([](const PrepareArgs& args) {
      const ConvShape s = transposed_shape(args.in(0).shape, args.in(1).shape, args.op.attrs);
      const DType dtype = args.out(0).dtype;
      return with_epilogue(prepare_conv(ConvPass::GradInput, s, {}, dtype, args.device),
                           {.bias = args.has_in(2), .relu = has_relu(args.op.attrs)},
                           {s.batch * s.in[0] * s.in[1], s.channels}, dtype, args.device);
    }),
    .layer =
        {.name = "conv_transpose",
         .aliases = {"ConvTranspose"},
         .keys =
             {{.name = "out", .min = 1, .help = "filters"},
              {.name = "k", .type = KeyType::IntPair, .min = 1, .max = kMostPixels, .help = "kernel height and width"},
              {.name = "stride",
               .type = KeyType::IntPair,
               .absent = 1,
               .min = 1,
               .max = kMostPixels,
               .help = "times as high and wide"},
              {.name = "pad",
               .type = KeyType::Pad,
               .absent = 0,
               .min = 0,
               .max = kMostPixels,
               .help = "taken off on both sides"},
              {.name = "output_padding",
               .type = KeyType::IntPair,
               .absent = 0,
               .min = 0,
               .max = kMostPixels,
               .help = "rows and columns more, below and to the right; less than the stride"},
              {.name = "dilation", .type = KeyType::IntPair, .absent = 1, .min = 1, .max = kMostPixels},
              {.name = "groups", .absent = 1, .min = 1, .help = "independent parts of channels and filters"},
              {.name = "bias", .type = KeyType::Bool, .absent = 1},
              weight_init_key(),
              share_key()},
         .build = build_transposed,
         .help = "transposed convolution of an image: the way back of a convolution, with weights of its own"},
}};

}  // namespace
}  // namespace lethe
