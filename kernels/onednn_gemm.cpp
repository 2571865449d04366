#include <string_view>

#include "kernels/gemm_providers.h"
#include "kernels/onednn.h"

namespace lethe {
namespace {

using dnnl::memory;

/// A stack of rows x columns matrices; transposed ones stand in memory as columns x rows.
memory::desc matrices(std::int64_t batch, std::int64_t rows, std::int64_t columns, bool transposed) {
  memory::dims strides = {rows * columns, columns, 1};
  if (transposed) strides = {rows * columns, 1, rows};
  return {{batch, rows, columns}, memory::data_type::f32, strides};
}

class OnednnGemm final : public Kernel {
 public:
  OnednnGemm(const OnednnContext& context, const dnnl::matmul::primitive_desc& desc)
      : context_(context),
        call_(context_, dnnl::matmul(desc),
              {{DNNL_ARG_SRC, desc.src_desc()},
               {DNNL_ARG_WEIGHTS, desc.weights_desc()},
               {DNNL_ARG_BIAS, desc.bias_desc()},
               {DNNL_ARG_DST, desc.dst_desc()},
               {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}}),
        bias_(desc.bias_desc().get_size() != 0),
        scratch_bytes_(static_cast<std::int64_t>(desc.scratchpad_desc().get_size())) {}

  std::int64_t workspace_bytes() const override { return scratch_bytes_; }
  void run(const KernelArgs& args) const override {
    call_.run(context_,
              {args.inputs[0], args.inputs[1], bias_ ? args.inputs[2] : nullptr, args.outputs[0], args.workspace});
  }

 private:
  OnednnContext context_;
  OnednnCall call_;
  bool bias_;
  std::int64_t scratch_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_onednn(const GemmShape& s, int threads) {
  const OnednnThreads scope(threads);
  const OnednnContext context;
  const memory::desc a = matrices(s.batch, s.m, s.k, s.transpose_a), b = matrices(s.batch, s.k, s.n, s.transpose_b);
  const memory::desc c = matrices(s.batch, s.m, s.n, false);
  const memory::desc bias = s.bias ? matrices(1, 1, s.n, false) : memory::desc();
  const auto desc = describe<dnnl::matmul>(context.engine, a, b, bias, c);
  if (std::string_view(desc.impl_info_str()).starts_with("ref")) return nullptr;
  return std::make_unique<OnednnGemm>(context, desc);
}

}  // namespace lethe
