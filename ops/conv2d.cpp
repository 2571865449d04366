// y[n, oy, ox, o] = bias[o] + sum of x[n, oy * stride - pad + ky * dilation, ..., i] * weight[o, ky, kx, i] over ky,
// kx, i, in `groups` independent parts. Images are [N, H, W, C], weights [O, kh, kw, C / groups].
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/conv/attrs.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

/// The convolution of x by weight; fails if there is none.
ConvShape conv_shape(const Shape& x, const Shape& weight, const Attrs& attrs) {
  check(x.size() == 4, "conv2d: input is ", text_of(x), ", expected an image [N,H,W,C]");
  check_weight("conv2d", weight, "[filters,height,width,channels]");
  ConvShape s{.batch = x[0],
              .channels = x[3],
              .filters = weight[0],
              .groups = attrs.integer("groups", 1),
              .in = {x[1], x[2]},
              .kernel = {weight[1], weight[2]},
              .stride = extent_of("conv2d", attrs, "stride", 1, 1),
              .pad = extent_of("conv2d", attrs, "pad", 0, 0),
              .dilation = extent_of("conv2d", attrs, "dilation", 1, 1)};
  check(s.groups >= 1, "conv2d: groups is ", s.groups, ", expected at least 1");
  check(s.channels % s.groups == 0, "conv2d: input has ", s.channels, " channels, which ", s.groups,
        " groups do not divide");
  check(s.filters % s.groups == 0, "conv2d: there are ", s.filters, " filters, which ", s.groups,
        " groups do not divide");
  const std::int64_t expected = checked_mul(weight[3], s.groups, "conv2d: the number of channels");
  check(expected == s.channels, "conv2d: input has ", s.channels, " channels, filter expects ", expected);
  for (const int axis : {0, 1}) {
    const std::int64_t reach = reach_of(s.kernel[axis], s.dilation[axis]),
                       padded = padded_size(s.in[axis], s.pad[axis]);
    check(reach <= padded, "conv2d: kernel reaches over ", reach, " pixels of ", axis == 0 ? "height" : "width",
          ", the padded input has ", padded);
    s.out[axis] = (padded - reach) / s.stride[axis] + 1;
  }
  check_windows("conv2d", s);
  return s;
}

Shape out_shape(const ConvShape& s) { return {s.batch, s.out[0], s.out[1], s.filters}; }

void check_dtypes(const InferArgs& args) {
  for (std::size_t slot = 1; slot < args.op.in.size(); ++slot)
    if (args.has_in(static_cast<int>(slot))) {
      const Var& other = args.in(static_cast<int>(slot));
      check(other.dtype == args.in(0).dtype, "conv2d: '", other.name, "' is ", name_of(other.dtype), ", '",
            args.in(0).name, "' ", name_of(args.in(0).dtype));
    }
}

// Each op's convolution, from what is at hand before (Args: InferArgs) and after its vars are made (PrepareArgs).

template <class Args>
ConvShape forward_shape(const Args& args) {
  return conv_shape(args.in(0).shape, args.in(1).shape, args.op.attrs);
}

template <class Args>
ConvShape grad_input_shape(const Args& args) {
  const Shape &dy = args.in(0).shape, &weight = args.in(1).shape;
  const Attrs& attrs = args.op.attrs;
  check(dy.size() == 4 && weight.size() == 4, "conv2d_grad_input: expected an image and a weight, given ", text_of(dy),
        " and ", text_of(weight));
  const std::int64_t channels =
      checked_mul(weight[3], attrs.integer("groups", 1), "conv2d_grad_input: the number of channels");
  const ConvShape s = conv_shape({dy[0], attrs.integer("height"), attrs.integer("width"), channels}, weight, attrs);
  check(out_shape(s) == dy, "conv2d_grad_input: dy is ", text_of(dy), ", expected ", text_of(out_shape(s)));
  return s;
}

template <class Args>
ConvShape grad_weight_shape(const Args& args) {
  const Shape &x = args.in(0).shape, &dy = args.in(1).shape;
  const Attrs& attrs = args.op.attrs;
  check(x.size() == 4 && dy.size() == 4, "conv2d_grad_weight: expected two images, given ", text_of(x), " and ",
        text_of(dy));
  const Extent kernel = extent_of("conv2d", attrs, "kernel", 0, 1);
  const std::int64_t groups = attrs.integer("groups", 1);
  check(groups >= 1, "conv2d_grad_weight: groups is ", groups, ", expected at least 1");
  const ConvShape s = conv_shape(x, {dy[3], kernel[0], kernel[1], x[3] / groups}, attrs);
  check(out_shape(s) == dy, "conv2d_grad_weight: dy is ", text_of(dy), ", expected ", text_of(out_shape(s)));
  return s;
}

std::vector<Type> infer_forward(const InferArgs& args) {
  check_dtypes(args);
  const ConvShape s = forward_shape(args);
  if (args.has_in(2))
    check(args.in(2).shape == Shape{s.filters}, "conv2d: bias is ", text_of(args.in(2).shape), ", expected [",
          s.filters, ']');
  return {{out_shape(s), args.in(0).dtype}};
}

std::vector<Type> infer_grad_input(const InferArgs& args) {
  check_dtypes(args);
  const ConvShape s = grad_input_shape(args);
  return {{{s.batch, s.in[0], s.in[1], s.channels}, args.in(0).dtype}};
}

std::vector<Type> infer_grad_weight(const InferArgs& args) {
  check_dtypes(args);
  const ConvShape s = grad_weight_shape(args);
  return {{{s.filters, s.kernel[0], s.kernel[1], s.channels / s.groups}, args.in(0).dtype}};
}

void gradient(GradBuilder& g) {
  const Shape &x = g.var(g.x(0)).shape, &weight = g.var(g.x(1)).shape;
  Attrs of_input = g.attrs(), of_weight = g.attrs();
  of_input.set("height", x[1]);
  of_input.set("width", x[2]);
  of_weight.set("kernel", Ints{weight[1], weight[2]});
  g.set(0, "conv2d_grad_input", {g.dy(), g.x(1)}, of_input);
  g.set(1, "conv2d_grad_weight", {g.x(0), g.dy()}, of_weight);
  g.set(2, "bias_grad", {g.dy()});
}

VarId build(LayerCall& c) {
  const Attrs& settings = c.settings();
  const Shape& x = c.image();
  const std::int64_t filters = settings.integer("out"), groups = settings.integer("groups");
  check(x[3] % groups == 0, "conv: input has ", x[3], " channels, which ", groups, " groups do not divide");
  const Extent kernel = c.pair("k"), stride = c.pair("stride"), dilation = c.pair("dilation"),
               pad = c.pad("pad", kernel, dilation);
  const std::int64_t channels = x[3] / groups;
  const auto fan = [&](std::int64_t count) { return elements({kernel[0], kernel[1], count}); };
  const Init he{.kind = Init::He, .fan_in = fan(channels), .fan_out = fan(filters) / groups};
  const VarId weight =
      c.param("weight", {filters, kernel[0], kernel[1], channels}, c.init("init", he), true, {FileLayout::Conv});
  const VarId bias = settings.flag("bias") ? c.param("bias", {filters}, {}, false) : kNone;
  return c.emit("conv2d", {c.in(), weight, bias},
                {{"stride", Ints{stride[0], stride[1]}},
                 {"pad", Ints{pad[0], pad[1]}},
                 {"dilation", Ints{dilation[0], dilation[1]}},
                 {"groups", groups}});
}

/// What one output of a filter takes, times the outputs; all three passes take as many.
std::int64_t mult_adds(const Shape& y, const Shape& weight) {
  return checked_mul(elements(y), elements(weight) / std::max<std::int64_t>(weight[0], 1),
                     "the number of multiply-adds");
}

const Register conv2d{{
    .type = "conv2d",
    .inputs = {"x", "weight", "bias?"},
    .outputs = {"y"},
    .infer = infer_forward,
    .grad = gradient,
    .mult_adds =
        [](const InferArgs& args) { return mult_adds(args.program.vars[args.op.out[0]].shape, args.in(1).shape); },
    .activates = Activates::OnGpu,
    .kernels = library_kernels([](const PrepareArgs& args) {
      const Epilogue epilogue{.bias = args.has_in(2), .relu = has_relu(args.op.attrs)};
      return prepare_conv(ConvPass::Forward, forward_shape(args), epilogue, args.out(0).dtype, args.device);
    }),
    .layer =
        {.name = "conv",
         .aliases = {"Conv"},
         .keys =
             {{.name = "out", .min = 1, .help = "filters"},
              {.name = "k", .type = KeyType::IntPair, .min = 1, .max = kMostPixels, .help = "kernel height and width"},
              {.name = "stride", .type = KeyType::IntPair, .absent = 1, .min = 1, .max = kMostPixels},
              {.name = "pad", .type = KeyType::Pad, .absent = "same", .min = 0, .max = kMostPixels},
              {.name = "dilation", .type = KeyType::IntPair, .absent = 1, .min = 1, .max = kMostPixels},
              {.name = "groups", .absent = 1, .min = 1, .help = "independent parts of channels and filters"},
              {.name = "bias", .type = KeyType::Bool, .absent = 1},
              weight_init_key(),
              share_key()},
         .build = build,
         .help = "convolution of an image"},
}};

const Register conv2d_grad_input{{
    .type = "conv2d_grad_input",
    .inputs = {"dy", "weight"},
    .outputs = {"dx"},
    .infer = infer_grad_input,
    .mult_adds = [](const InferArgs& args) { return mult_adds(args.in(0).shape, args.in(1).shape); },
    .kernels = library_kernels([](const PrepareArgs& args) {
      return prepare_conv(ConvPass::GradInput, grad_input_shape(args), {}, args.out(0).dtype, args.device);
    }),
}};

const Register conv2d_grad_weight{{
    .type = "conv2d_grad_weight",
    .inputs = {"x", "dy"},
    .outputs = {"dw"},
    .infer = infer_grad_weight,
    .mult_adds =
        [](const InferArgs& args) { return mult_adds(args.in(1).shape, args.program.vars[args.op.out[0]].shape); },
    .kernels = library_kernels([](const PrepareArgs& args) {
      return prepare_conv(ConvPass::GradWeight, grad_weight_shape(args), {}, args.out(0).dtype, args.device);
    }),
}};

}  // namespace
}  // namespace lethe
