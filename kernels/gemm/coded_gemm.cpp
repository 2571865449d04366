#include "kernels/gemm/coded_gemm.h"

#include "framework/error.h"
#include "kernels/by_kind.h"
#include "kernels/quantized/cuda_launches.h"

namespace lethe {
namespace {

/// With more, cuBLASLt's product and its passes take less time: if ours has 0.4 of its rate, as instructions counted
/// for an H100 say, that begins at 280 rows. Not measured yet.
constexpr std::int64_t kMostRows = 256;

CodedProductShape coded_shape(const GemmShape& s) { return {s.m, s.n, s.k, s.row_a(), s.row_c(), s.transpose_b}; }

class CodedGemm final : public Kernel {
 public:
  CodedGemm(const GemmShape& s, DType dtype, DType of_weight)
      : shape_(coded_shape(s)),
        dtype_(dtype),
        weight_{of_weight, s.transpose_b ? Shape{s.n, s.k} : Shape{s.k, s.n}},
        has_bias_(s.epilogue.bias) {}

  std::string implementation() const override { return "own product, decodes the weight"; }
  void run(const KernelArgs& args) const override {
    const auto* const weight = args.in<std::byte>(1);
    by_kind(
        DeviceKind::Cuda,
        [&] {
          launch_coded_product(args.stream, shape_, dtype_, weight_, weight, args.inputs[0],
                               has_bias_ ? args.inputs[2] : nullptr, args.outputs[0]);
        },
        [] { fail_as(Exit::Internal, "a product on a GPU in a program without CUDA"); });
  }

 private:
  CodedProductShape shape_;
  DType dtype_;
  BlockedWeight weight_;
  bool has_bias_;
};

}  // namespace

bool is_coded_product(const GemmShape& s, DType dtype, DeviceKind kind) {
  return kind == DeviceKind::Cuda && (dtype == DType::bf16 || dtype == DType::f16) && s.m <= kMostRows &&
         s.batch == 1 && !s.transpose_a && s.stride_b == 0 && !s.accumulate && !s.wide_c && !s.wide_b && !s.unaligned &&
         !s.epilogue.gelu_grad && coded_shape(s).is_whole();
}

std::unique_ptr<Kernel> prepare_coded_product(const GemmShape& s, DType dtype, DType of_weight,
                                              const DeviceInfo& device) {
  return with_epilogue(std::make_unique<CodedGemm>(s, dtype, of_weight), {.relu = s.epilogue.relu}, rows_of_c(s), dtype,
                       device);
}

}  // namespace lethe
