#include "kernels/gemm/epilogue.h"

#include "kernels/by_kind.h"
#include "kernels/gemm/cuda_launches.h"
#include "kernels/gemm/epilogue_index.h"

namespace lethe {
namespace {

class EpilogueAfter final : public Kernel {
 public:
  EpilogueAfter(std::unique_ptr<Kernel> kernel, const Epilogue& epilogue, const EpilogueRows& rows, DType dtype,
                DeviceKind device)
      : kernel_(std::move(kernel)), epilogue_(epilogue), rows_(rows), dtype_(dtype), device_(device) {}
  std::int64_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  std::string implementation() const override { return kernel_->implementation() + ", epilogue"; }
  std::int64_t bytes_again() const override {
    return kernel_->bytes_again() + (epilogue_.gelu_grad ? 3 : 2) * rows_.rows * rows_.columns * bytes_of(dtype_);
  }
  void run(const KernelArgs& args) const override {
    kernel_->run(args);
    const void* const operand = epilogue_.takes_input() ? args.inputs[2] : nullptr;
    by_kind(
        device_, [&] { launch_epilogue(args.stream, dtype_, rows_, epilogue_, operand, args.outputs[0]); },
        [&] { apply_epilogue(Cpu{}, args.stream, dtype_, rows_, epilogue_, operand, args.outputs[0]); });
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  Epilogue epilogue_;
  EpilogueRows rows_;
  DType dtype_;
  DeviceKind device_;
};

}  // namespace

std::unique_ptr<Kernel> with_epilogue(std::unique_ptr<Kernel> kernel, const Epilogue& epilogue,
                                      const EpilogueRows& rows, DType dtype, const DeviceInfo& device) {
  if (epilogue.is_empty()) return kernel;
  return std::make_unique<EpilogueAfter>(std::move(kernel), epilogue, rows, dtype, device.kind);
}

}  // namespace lethe
