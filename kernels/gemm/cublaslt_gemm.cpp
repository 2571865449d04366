#include <cuda_runtime_api.h>

#include "framework/error.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/gemm/providers.h"

namespace lethe {
namespace {

/// Given to every product. Stated before a GPU is there to ask; what NVIDIA recommends for Hopper.
constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;

/// One of cuBLASLt's descriptors.
template <class Handle, auto Destroy>
struct Destroyer {
  void operator()(Handle handle) const { (cublaslt().*Destroy)(handle); }
  using pointer = Handle;
};
using ProductDescriptor = std::unique_ptr<void, Destroyer<cublasLtMatmulDesc_t, &CublasLt::destroy_product>>;
using MatrixLayout = std::unique_ptr<void, Destroyer<cublasLtMatrixLayout_t, &CublasLt::destroy_layout>>;
using Preference = std::unique_ptr<void, Destroyer<cublasLtMatmulPreference_t, &CublasLt::destroy_preference>>;

cudaDataType_t cuda_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return CUDA_R_64F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

/// A row-major rows x columns matrix is to cuBLAS a columns x rows one that is column-major.
MatrixLayout layout(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check_cublaslt(cublaslt().create_layout(&made, cuda_type(dtype), static_cast<std::uint64_t>(columns),
                                          static_cast<std::uint64_t>(rows), row),
                 "layout");
  MatrixLayout owned(made);
  const auto count = static_cast<std::int32_t>(batch);
  const std::int64_t stride = rows * columns;
  check_cublaslt(cublaslt().set_layout(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), "stack");
  check_cublaslt(cublaslt().set_layout(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
                 "stack");
  return owned;
}

template <class Value>
void set_product(const ProductDescriptor& product, cublasLtMatmulDescAttributes_t name, const Value& value) {
  check_cublaslt(cublaslt().set_product(product.get(), name, &value, sizeof value), "attribute of a product");
}

ProductDescriptor product_of(const GemmShape& s, DType dtype, bool tf32) {
  const bool rounds = tf32 && dtype == DType::f32;
  const cublasComputeType_t f32 = rounds ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t made = nullptr;
  check_cublaslt(
      cublaslt().create_product(&made, dtype == DType::f64 ? CUBLAS_COMPUTE_64F : f32, cuda_type(wide_of(dtype))),
      "product");
  ProductDescriptor product(made);
  const auto op = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set_product(product, CUBLASLT_MATMUL_DESC_TRANSA, op(s.transpose_b));
  set_product(product, CUBLASLT_MATMUL_DESC_TRANSB, op(s.transpose_a));
  return product;
}

/// c^T = op(b)^T op(a)^T: to cuBLAS, which is column-major, b is the first factor. A bias has as many elements as c^T
/// has rows: it is an epilogue, but in f64, where cuBLASLt has none. Reductions follow a fixed order, so the bits are
/// those of the algorithm alone.
class CublasLtGemm final : public Kernel {
 public:
  CublasLtGemm(const GemmShape& s, DType dtype, const DeviceInfo& device)
      : s_(s),
        dtype_(dtype),
        product_(product_of(s, dtype, device.tf32)),
        a_(s.transpose_a ? layout(dtype, s.k, s.m, s.row_a(), s.batch) : layout(dtype, s.m, s.k, s.row_a(), s.batch)),
        b_(s.transpose_b ? layout(dtype, s.n, s.k, s.row_b(), s.batch) : layout(dtype, s.k, s.n, s.row_b(), s.batch)),
        c_(layout(dtype_of_c(s, dtype), s.m, s.n, s.row_c(), s.batch)) {
    if (adds_bias_itself()) set_product(product_, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    if (!device.properties.empty()) return;  // it is not there: nothing will run
    handle_ = cublaslt_handle();
    choose_algorithm();
  }

  std::int64_t workspace_bytes() const override { return kWorkspace; }
  std::string implementation() const override { return "cuBLASLt"; }

  void run(const KernelArgs& args) const override {
    // Part of the description to cuBLASLt, so it is set anew in each call: equal products share this kernel.
    const void* const bias = adds_bias_itself() ? args.inputs[2] : nullptr;
    if (bias) set_product(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    const double one = 1, kept = s_.accumulate ? 1 : 0;
    const float one_f = 1, kept_f = s_.accumulate ? 1 : 0;
    const bool is_double = dtype_ == DType::f64;
    check_cublaslt(
        cublaslt().matmul(handle_, product_.get(), is_double ? static_cast<const void*>(&one) : &one_f, args.inputs[1],
                          b_.get(), args.inputs[0], a_.get(), is_double ? static_cast<const void*>(&kept) : &kept_f,
                          args.outputs[0], c_.get(), args.outputs[0], c_.get(), &algorithm_, args.workspace, kWorkspace,
                          static_cast<cudaStream_t>(args.stream)),
        "product");
  }

 private:
  bool adds_bias_itself() const { return s_.epilogue.bias && dtype_ != DType::f64; }

  void choose_algorithm() {
    cublasLtMatmulPreference_t made = nullptr;
    check_cublaslt(cublaslt().create_preference(&made), "preference");
    const Preference preference(made);
    const auto workspace = static_cast<std::uint64_t>(kWorkspace);
    check_cublaslt(
        cublaslt().set_preference(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace),
        "workspace");
    // Parts of matrices may begin at any element; all else stands where cuBLASLt expects it unless told otherwise.
    if (!s_.is_dense())
      for (const auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
        const auto element = static_cast<std::uint32_t>(bytes_of(dtype_));
        check_cublaslt(cublaslt().set_preference(made, name, &element, sizeof element), "alignment");
      }
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    check_cublaslt(cublaslt().find_algorithms(handle_, product_.get(), b_.get(), a_.get(), c_.get(), c_.get(), made, 1,
                                              &best, &found),
                   "algorithms");
    check_as(Exit::Device, found > 0, "cuBLASLt has no algorithm for a product of ", s_.m, 'x', s_.k, " by ", s_.k, 'x',
             s_.n);
    algorithm_ = best.algo;
  }

  GemmShape s_;
  DType dtype_;
  ProductDescriptor product_;
  MatrixLayout a_, b_, c_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_cublaslt(const GemmShape& shape, DType dtype, const DeviceInfo& device) {
  check(is_float(dtype), "no product of ", name_of(dtype));
  // Its relu makes 0 of NaN.
  const Epilogue ours{.bias = shape.epilogue.bias && dtype == DType::f64, .relu = shape.epilogue.relu};
  return with_epilogue(std::make_unique<CublasLtGemm>(shape, dtype, device), ours, shape.batch * shape.m, shape.n,
                       dtype, device);
}

}  // namespace lethe
