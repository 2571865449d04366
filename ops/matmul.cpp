// c = op(a) op(b) of matrices, or of equal stacks of them; op transposes the last two axes if asked to. A product of
// backward also does what stands beside it on a GPU (fuse_products.h): kSumsOfA, kGeluGrad.
#include <algorithm>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "framework/language/op_def.h"
#include "framework/language/weight_blocks.h"
#include "kernels/each_device.h"
#include "kernels/gemm/row_blocks.h"
#include "kernels/gemm/weight_blocks.h"

namespace lethe {
namespace {

GemmShape product(const Shape& a, const Shape& b, const Attrs& attrs) {
  const std::size_t rank = a.size();
  check(rank >= 2 && b.size() == rank && std::equal(a.begin(), a.end() - 2, b.begin()), "matmul: no product of ",
        text_of(a), " and ", text_of(b), ": expected two matrices or two equal stacks of them");
  GemmShape s{.transpose_a = attrs.flag("transpose_a", false),
              .transpose_b = attrs.flag("transpose_b", false),
              .epilogue = {.gelu_grad = attrs.flag(kGeluGrad, false)},
              .wide_c = attrs.flag(kWideOutput, false),
              .sums_a = attrs.flag(kSumsOfA, false)};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) s.batch *= a[axis];
  s.m = a[rank - (s.transpose_a ? 1 : 2)], s.k = a[rank - (s.transpose_a ? 2 : 1)];
  s.n = b[rank - (s.transpose_b ? 2 : 1)];
  const std::int64_t rows = b[rank - (s.transpose_b ? 1 : 2)];
  check(s.k == rows, "matmul: first factor has ", s.k, " columns, second ", rows, " rows");
  return s;
}

std::vector<Type> infer(const InferArgs& args) {
  const Var &a = args.in(0), &b = args.in(1);
  const GemmShape s = product(a.shape, b.shape, args.op.attrs);
  check(takes_weight(s, a.dtype, b), "matmul: first factor is ", name_of(a.dtype), ", second ", name_of(b.dtype));
  Shape c = a.shape;
  c[c.size() - 2] = s.m, c[c.size() - 1] = s.n;
  const DType of_c = dtype_of_c(s, a.dtype);
  std::vector<Type> types{{c, of_c}};
  if (s.sums_a) types.push_back({{s.m}, of_c});
  check(args.has_in(2) == s.epilogue.gelu_grad, "matmul: input 2 is there without ", kGeluGrad, ", or missing");
  if (s.epilogue.gelu_grad) {
    const Var& x = args.in(2);
    check(x.dtype == of_c && elements(x.shape) == elements(c), "matmul: input 2 is ", text_of(x), ", expected ",
          name_of(of_c), " of as many elements as ", text_of(c));
  }
  return types;
}

Attrs transposes(bool a, bool b) { return {{"transpose_a", a}, {"transpose_b", b}}; }

// With A = op(a), B = op(b): dA = dy B^T and dB = A^T dy; for a transposed factor both sides are transposed.
void gradient(GradBuilder& g) {
  check(g.var(g.x(0)).dtype == g.var(g.x(1)).dtype,
        "matmul: no gradient of a product whose second factor is converted");
  const bool ta = g.attrs().flag("transpose_a", false), tb = g.attrs().flag("transpose_b", false);
  if (ta)
    g.set(0, "matmul", {g.x(1), g.dy()}, transposes(tb, true));
  else
    g.set(0, "matmul", {g.dy(), g.x(1)}, transposes(false, !tb));
  if (tb)
    g.set(1, "matmul", {g.dy(), g.x(0)}, transposes(true, ta));
  else
    g.set(1, "matmul", {g.x(0), g.dy()}, transposes(!ta, false));
}

/// Whether blocks of rows of the product are whole blocks of each state that is in such.
bool are_whole_blocks(const Program& program, const Op& update, std::int64_t elements) {
  return std::all_of(update.out.begin(), update.out.end(), [&](VarId v) {
    const Var& var = program.vars[v];
    return elements % block_format(var.dtype, var.shape).elements == 0;
  });
}

/// The update that makes the product itself, in place of `update`.
std::vector<Op> into_update(const Program& program, const Op& made, const Op& update) {
  const Var &a = program.vars[made.in[0]], &b = program.vars[made.in[1]];
  const GemmShape s = product(a.shape, b.shape, made.attrs);
  const std::string type = kMatmulUpdate + update.type;
  if (a.shape.size() != 2 || a.dtype != b.dtype || !is_in_row_blocks(s, a.dtype) ||
      dtype_of_c(s, a.dtype) != wide_of(a.dtype) || !find_op(type) ||
      !are_whole_blocks(program, update, rows_of_block(s, a.dtype) * s.n))
    return {};
  const int slot = op_def(update.type).gradient;
  Op op = update;
  op.type = type;
  op.in[slot] = made.in[0];
  op.in.insert(op.in.begin() + slot + 1, made.in[1]);
  return {op};
}

/// A product that leaves sums of its first factor's columns to the op that makes nothing else.
class WithSums final : public Kernel {
 public:
  WithSums(std::unique_ptr<Kernel> product, std::unique_ptr<Kernel> sums, std::int64_t read)
      : product_(std::move(product)), sums_(std::move(sums)), read_(read) {}
  std::int64_t workspace_bytes() const override {
    return std::max(product_->workspace_bytes(), sums_->workspace_bytes());
  }
  std::int64_t bytes_again() const override { return product_->bytes_again() + read_; }
  std::string implementation() const override { return product_->implementation() + ", sums"; }
  void run(const KernelArgs& args) const override {
    product_->run(args);
    KernelArgs sums = args;
    ++sums.outputs;
    sums_->run(sums);
  }

 private:
  std::unique_ptr<Kernel> product_, sums_;
  std::int64_t read_;  // bytes
};

std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
  const Var &a = args.in(0), &b = args.in(1);
  GemmShape s = product(a.shape, b.shape, args.op.attrs);
  const auto made = [&] {
    return prepare_weight_product(s, a.dtype, b.dtype, args.op.attrs.flag(kWeightBlocks, false), args.device);
  };
  auto all = made();
  if (all) return all;
  s.sums_a = false;
  Op sums{.type = "bias_grad", .in = {args.op.in[0]}, .out = {args.op.out[1]}};
  if (s.wide_c) sums.attrs.set(kWideOutput, true);
  const Kernels& kernels = op_def(sums.type).kernels;
  const PrepareKernel of_sums = args.device.kind == DeviceKind::Cuda ? kernels.cuda : kernels.cpu;
  return std::make_unique<WithSums>(made(), of_sums({args.program, sums, args.device}), bytes_of(a));
}

const Register matmul{{
    .type = "matmul",
    .inputs = {"a", "b", "x?"},
    .outputs = {"c", "sums..."},
    .infer = infer,
    .grad = gradient,
    .mult_adds =
        [](const InferArgs& args) {
          const GemmShape s = product(args.in(0).shape, args.in(1).shape, args.op.attrs);
          return checked_mul(elements(args.program.vars[args.op.out[0]].shape), s.k, "the number of multiply-adds");
        },
    .fusions = {{.fusion = Fusion::Update, .fused = into_update}},
    .widens = true,
    .rounds =
        [](const Program& program, const Op& op, DType of_weight) {
          const Var &a = program.vars[op.in[0]], &b = program.vars[op.in[1]];
          return converts_weight(product(a.shape, b.shape, op.attrs), a.dtype, of_weight) ? 1 : -1;
        },
    .kernels = library_kernels(prepare),
    .layer = {.name = "matmul",
              .aliases = {"MatMul"},
              .keys = {{.name = "transpose_a", .type = KeyType::Bool, .absent = 0},
                       {.name = "transpose_b", .type = KeyType::Bool, .absent = 0}},
              .min_inputs = 2,
              .max_inputs = 2,
              .build =
                  [](LayerCall& c) {
                    return c.emit("matmul", {c.in(0), c.in(1)}, c.settings());
                  },
              .help = "product of two matrices, or of two equal stacks of them"},
}};

}  // namespace
}  // namespace lethe
