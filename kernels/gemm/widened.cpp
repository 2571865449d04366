#include "framework/error.h"
#include "kernels/gemm/providers.h"
#include "kernels/gemm/wide_parts.h"

namespace lethe {
namespace {

template <class T>
class WidenedGemm final : public Kernel {
 public:
  WidenedGemm(GemmShape s, const DeviceInfo& device) : stack_(s.batch), s_(s) {
    check(s.is_dense() && !s.accumulate && !s.wide_c, "no product of low floats but of dense matrices");
    s_.batch = 1;
    product_ = prepare_gemm(s_, DType::f32, device);
    a_ = layout_.add(s.m * s.k);
    b_ = layout_.add(s.k * s.n);
    bias_ = layout_.add(s.epilogue.bias ? s.n : 0);
    c_ = layout_.add(s.m * s.n);
    inner_ = layout_.add((product_->workspace_bytes() + 3) / 4);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return product_->implementation() + ", widened"; }

  void run(const KernelArgs& args) const override {
    if (s_.epilogue.bias) convert(args.in<T>(2), bias_.at(args), bias_.n);
    for (std::int64_t i = 0; i < stack_; ++i) {
      convert(args.in<T>(0) + i * a_.n, a_.at(args), a_.n);
      convert(args.in<T>(1) + i * b_.n, b_.at(args), b_.n);
      run_kernel(*product_, {a_.at(args), b_.at(args), bias_.at(args)}, c_.at(args), inner_.at(args));
      convert(c_.at(args), args.out<T>(0) + i * c_.n, c_.n);
    }
  }

 private:
  std::int64_t stack_;
  GemmShape s_;
  std::unique_ptr<Kernel> product_;
  WideLayout layout_;
  WidePart a_, b_, bias_, c_, inner_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_widened(const GemmShape& shape, DType dtype, const DeviceInfo& device) {
  if (dtype == DType::bf16) return std::make_unique<WidenedGemm<Bf16>>(shape, device);
  return std::make_unique<WidenedGemm<F16>>(shape, device);
}

}  // namespace lethe
