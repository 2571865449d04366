// y[N, O] = x[N, I] weight[O, I]^T + bias[O].
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/weight_blocks.h"
#include "kernels/each_device.h"
#include "kernels/gemm/weight_blocks.h"

namespace lethe {
namespace {

/// Without epilogue.
GemmShape product(const Shape& x, const Shape& weight) {
  return {.m = x[0], .n = weight[0], .k = x[1], .transpose_b = true};
}

std::vector<Type> infer(const InferArgs& args) {
  const Shape &x = args.in(0).shape, &weight = args.in(1).shape;
  const DType dtype = args.in(0).dtype;
  check(x.size() == 2, "fc: input is ", text_of(x), ", expected a matrix [N,inputs]");
  check(weight.size() == 2, "fc: weight is ", text_of(weight), ", expected a matrix [outputs,inputs]");
  check(x[1] == weight[1], "fc: input has ", x[1], " columns, weight expects ", weight[1]);
  const Var& w = args.in(1);
  check(takes_weight(product(x, weight), dtype, w), "fc: weight is ", name_of(w.dtype), ", input ", name_of(dtype));
  if (args.has_in(2)) {
    const Var& bias = args.in(2);
    check(bias.shape == Shape{weight[0]} && bias.dtype == dtype, "fc: bias is ", text_of(bias), ", expected ",
          name_of(dtype), '[', weight[0], ']');
  }
  return {{{x[0], weight[0]}, dtype}};
}

void gradient(GradBuilder& g) {
  check(g.var(g.x(0)).dtype == g.var(g.x(1)).dtype, "fc: no gradient of a product whose weight is converted");
  g.set(0, "matmul", {g.dy(), g.x(1)});
  g.set(1, "matmul", {g.dy(), g.x(0)}, {{"transpose_a", 1}});
  g.set(2, "bias_grad", {g.dy()});
}

VarId build(LayerCall& c) {
  const std::int64_t outputs = c.settings().integer("out");
  Shape tokens = c.shape();
  check(!tokens.empty(), "fc: the input is a scalar");
  const bool flattens = c.settings().flag("flatten") || tokens.size() <= 2;
  const std::int64_t rows = elements(tokens) / tokens.back();
  const VarId x = flattens ? c.flat() : c.view(c.in(), {rows, tokens.back()}, "rows");
  const std::int64_t inputs = c.var(x).shape[1];
  const Init he{.kind = Init::He, .fan_in = inputs, .fan_out = outputs};
  const auto image = flattens ? c.image_of(x) : std::nullopt;
  const FileLayout layout = image ? FileLayout{FileLayout::FlatImage, *image} : FileLayout{};
  const VarId weight = c.param("weight", {outputs, inputs}, c.init("init", he), true, layout);
  const VarId bias = c.settings().flag("bias") ? c.param("bias", {outputs}, {}, false) : kNone;
  const VarId y = c.emit("fc", {x, weight, bias});
  tokens.back() = outputs;
  return flattens ? y : c.view(y, tokens, "tokens");
}

const Register fc{{
    .type = "fc",
    .inputs = {"x", "weight", "bias?"},
    .outputs = {"y"},
    .infer = infer,
    .grad = gradient,
    .mult_adds =
        [](const InferArgs& args) {
          return checked_mul(args.in(0).shape[0], elements(args.in(1).shape), "the number of multiply-adds");
        },
    .activates = Activates::OnGpu,
    .along = Along::Rows,
    .rounds =
        [](const Program& program, const Op& op, DType of_weight) {
          const Var &x = program.vars[op.in[0]], &weight = program.vars[op.in[1]];
          return converts_weight(product(x.shape, weight.shape), x.dtype, of_weight) ? 1 : -1;
        },
    .kernels = library_kernels([](const PrepareArgs& args) {
      const Var &x = args.in(0), &weight = args.in(1);
      GemmShape s = product(x.shape, weight.shape);
      s.epilogue = {.bias = args.has_in(2), .relu = has_relu(args.op.attrs)};
      return prepare_weight_product(s, x.dtype, weight.dtype, args.op.attrs.flag(kWeightBlocks, false), args.device);
    }),
    .layer = {.name = "fc",
              .aliases = {"Gemm"},
              .keys = {{.name = "out", .min = 1, .help = "outputs"},
                       {.name = "flatten",
                        .type = KeyType::Bool,
                        .absent = 1,
                        .help = "false: on the last axis alone, [.., inputs] to [.., out], as PyTorch's Linear"},
                       {.name = "bias", .type = KeyType::Bool, .absent = 1},
                       weight_init_key(),
                       share_key()},
              .build = build,
              .help = "fully connected: every output from every input of a sample, or of a token"},
}};

}  // namespace
}  // namespace lethe
