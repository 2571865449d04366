#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "kernels/cpu/onednn.h"
#include "kernels/cpu/workers.h"
#include "kernels/gemm/providers.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

using dnnl::memory;

/// A stack of rows x columns matrices; transposed ones stand in memory as columns x rows. `row`: the distance of rows
/// in memory.
memory::desc matrices(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t row,
                      bool transposed = false) {
  memory::dims strides = {rows * columns, row, 1};
  if (transposed) std::swap(strides[1], strides[2]);
  return {{batch, rows, columns}, onednn_type(dtype), strides};
}

memory::desc matrix(DType dtype, std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, onednn_type(dtype), memory::format_tag::ab};
}

/// A primitive, with its names for a, b, bias and c.
struct Product {
  dnnl::primitive primitive;
  OnednnCall::Argument a, b, bias, c;
  memory::desc scratch;
  std::string name;  // of oneDNN's code
};

/// Nothing if there is no fast code for this shape.
std::optional<Product> as_matmul(const GemmShape& s, DType dtype, bool tiles, const dnnl::engine& engine) {
  const memory::desc bias = s.epilogue.bias ? matrices(dtype, 1, 1, s.n, s.n) : memory::desc();
  dnnl::primitive_attr attr = scratch_from_caller();
  if (s.accumulate) {
    dnnl::post_ops adds;
    adds.append_sum();
    attr.set_post_ops(adds);
  }
  auto desc = describe_with<dnnl::matmul>(attr, engine, matrices(dtype, s.batch, s.m, s.k, s.row_a(), s.transpose_a),
                                          matrices(dtype, s.batch, s.k, s.n, s.row_b(), s.transpose_b), bias,
                                          matrices(dtype_of_c(s, dtype), s.batch, s.m, s.n, s.row_c()));
  if (!find_code(desc, tiles)) return std::nullopt;
  return Product{dnnl::matmul(desc),    {DNNL_ARG_SRC, desc.src_desc()}, {DNNL_ARG_WEIGHTS, desc.weights_desc()},
                 {DNNL_ARG_BIAS, bias}, {DNNL_ARG_DST, desc.dst_desc()}, desc.scratchpad_desc(),
                 desc.impl_info_str()};
}

/// a^T b, which is how weight gradients come: as what it is, oneDNN computes that of a fully connected layer, where k
/// is the batch, up to four times faster than as a product; that of a 1x1 convolution, with long sums, well, too.
std::optional<Product> as_weight_gradient(const GemmShape& s, DType dtype, bool tiles, const dnnl::engine& engine) {
  using Forward = dnnl::inner_product_forward;
  using Backward = dnnl::inner_product_backward_weights;
  const memory::desc dy = matrix(dtype, s.k, s.m), x = matrix(dtype, s.k, s.n), w = matrix(dtype, s.m, s.n),
                     dw = matrix(dtype_of_c(s, dtype), s.m, s.n);
  const auto forward = describe<Forward>(engine, dnnl::prop_kind::forward_training, x, w, dy);
  auto desc = describe_backward<Backward>(engine, forward, x, dw, dy);
  if (!find_code(desc, tiles)) return std::nullopt;
  return Product{Backward(desc),      {DNNL_ARG_DIFF_DST, dy},     {DNNL_ARG_SRC, x},
                 {DNNL_ARG_BIAS, {}}, {DNNL_ARG_DIFF_WEIGHTS, dw}, desc.scratchpad_desc(),
                 desc.impl_info_str()};
}

class OnednnGemm final : public Kernel {
 public:
  OnednnGemm(const OnednnContext& context, const Product& p)
      : context_(context),
        call_(context_, p.primitive, {p.a, p.b, p.bias, p.c, {DNNL_ARG_SCRATCHPAD, p.scratch}}),
        name_(p.name),
        bias_(p.bias.desc.get_size() != 0),
        scratch_bytes_(aligned(static_cast<std::int64_t>(p.scratch.get_size()))) {}

  std::int64_t workspace_bytes() const override { return scratch_bytes_; }
  std::string implementation() const override { return "oneDNN " + name_; }
  void run(const KernelArgs& args) const override {
    const void* bias = bias_ ? args.inputs[2] : nullptr;
    call_.run(context_, {args.inputs[0], args.inputs[1], bias, args.outputs[0], args.workspace});
  }

 private:
  OnednnContext context_;
  OnednnCall call_;
  std::string name_;
  bool bias_;
  std::int64_t scratch_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_onednn(const GemmShape& s, DType dtype, int threads, bool tiles) {
  // oneDNN divides by sizes that it counts in 32 bits.
  if (std::max({s.batch, s.m, s.n, s.k}) > std::numeric_limits<std::int32_t>::max()) return nullptr;
  const Workers workers(threads);  // primitives are made for so many
  const OnednnContext context;
  const bool weight_gradient =
      s.batch == 1 && s.transpose_a && !s.transpose_b && !s.epilogue.bias && !s.accumulate && s.is_dense();
  std::optional<Product> product;
  if (weight_gradient) product = as_weight_gradient(s, dtype, tiles, context.engine);
  if (!product) product = as_matmul(s, dtype, tiles, context.engine);
  return product ? std::make_unique<OnednnGemm>(context, *product) : nullptr;
}

}  // namespace lethe
