#include "kernels/gemm/plain_sums.h"

#include "kernels/by_kind.h"
#include "kernels/gemm/cuda_launches.h"
#include "kernels/gemm/plain.h"

namespace lethe {
namespace {

class SumsAfter final : public Kernel {
 public:
  SumsAfter(std::unique_ptr<Kernel> product, const GemmShape& s, DType dtype, DeviceKind device)
      : product_(std::move(product)), s_(s), dtype_(dtype), device_(device) {}
  std::int64_t workspace_bytes() const override { return product_->workspace_bytes(); }
  std::string implementation() const override { return product_->implementation() + ", sums"; }
  std::int64_t bytes_again() const override { return product_->bytes_again() + s_.m * s_.k * bytes_of(dtype_); }
  void run(const KernelArgs& args) const override {
    product_->run(args);
    by_kind(
        device_, [&] { launch_plain_sums(args.stream, dtype_, s_, args.inputs[0], args.outputs[1]); },
        [&] { sum_plainly(Cpu{}, args.stream, dtype_, s_, args.inputs[0], args.outputs[1]); });
  }

 private:
  std::unique_ptr<Kernel> product_;
  GemmShape s_;
  DType dtype_;
  DeviceKind device_;
};

}  // namespace

std::unique_ptr<Kernel> with_plain_sums(std::unique_ptr<Kernel> product, const GemmShape& s, DType dtype,
                                        const DeviceInfo& device) {
  if (!s.sums_a) return product;
  return std::make_unique<SumsAfter>(std::move(product), s, dtype, device.kind);
}

}  // namespace lethe
