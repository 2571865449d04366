#include <array>
#include <vector>

#include "framework/error.h"
#include "framework/language/launch_count.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/current_gpu.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/tell_once.h"
#include "kernels/gemm/cuda_launches.h"
#include "kernels/gemm/providers.h"
#include "kernels/packs.h"

namespace lethe {
namespace {

/// Given to every product. Stated before a GPU is there to ask; what NVIDIA recommends for Hopper.
constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;

/// The best of cuBLASLt's algorithms for a product, and others should it fail.
constexpr int kMostAlgorithms = 4;

std::string text_of(const GemmShape& s) {
  return message(s.batch > 1 ? message(s.batch, " products of ") : "a product of ", s.m, 'x', s.k, " by ", s.k, 'x',
                 s.n);
}

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

/// What cuBLASLt does on the way of a product, and how it is told where that is. A bias has as many elements as c^T has
/// rows, the sums as c^T has columns.
struct Beside {
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasLtMatmulDescAttributes_t pointer = CUBLASLT_MATMUL_DESC_BIAS_POINTER;
  const void* at(const KernelArgs& args) const {
    return epilogue == CUBLASLT_EPILOGUE_DEFAULT  ? nullptr
           : epilogue == CUBLASLT_EPILOGUE_BGRADB ? args.outputs[1]
                                                  : args.inputs[2];
  }
};

Beside beside_of(const GemmShape& s) {
  if (s.sums_a) return {CUBLASLT_EPILOGUE_BGRADB};
  if (s.epilogue.gelu_grad) return {CUBLASLT_EPILOGUE_DGELU, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER};
  if (s.epilogue.bias) return {CUBLASLT_EPILOGUE_BIAS};
  return {};
}

/// c^T = op(b)^T op(a)^T: to cuBLAS, which is column-major, b is the first factor. Reductions follow a fixed order, so
/// the bits are those of the algorithm alone. An algorithm that fails is replaced by the next for good; after the last,
/// and where there is none, our own product computes.
class CublasLtGemm final : public Kernel {
 public:
  CublasLtGemm(const GemmShape& s, DType dtype, const DeviceInfo& device)
      : s_(s),
        dtype_(dtype),
        product_(product_of(s, dtype, device.tf32)),
        a_(s.transpose_a ? layout(dtype, s.k, s.m, s.row_a(), s.batch) : layout(dtype, s.m, s.k, s.row_a(), s.batch)),
        b_(s.transpose_b ? layout(dtype, s.n, s.k, s.row_b(), s.batch) : layout(dtype, s.k, s.n, s.row_b(), s.batch)),
        c_(layout(dtype_of_c(s, dtype), s.m, s.n, s.row_c(), s.batch)),
        beside_(beside_of(s)) {
    set_product(product_, CUBLASLT_MATMUL_DESC_EPILOGUE, beside_.epilogue);
    if (s.epilogue.gelu_grad) set_product(product_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.n);
    if (!device.properties.empty()) return;  // it is not there: nothing will run
    libraries_ = libraries_of(device);
    find_algorithms();
  }

  /// Why cuBLASLt has no algorithm for it; "" if it has.
  const std::string& lack() const { return lack_; }
  std::int64_t workspace_bytes() const override { return kWorkspace; }
  std::string implementation() const override { return lack_.empty() ? "cuBLASLt" : "own product"; }

  void run(const KernelArgs& args) const override {
    if (LaunchCount::takes_launch()) return;
    // Part of the description to cuBLASLt, so it is set anew in each call: equal products share this kernel.
    const void* const beside = beside_.at(args);
    if (beside) set_product(product_, beside_.pointer, beside);
    for (; current_ < algorithms_.size(); ++current_) {
      const cublasStatus_t status = multiply(args, algorithms_[current_]);
      if (status == CUBLAS_STATUS_SUCCESS) return;
      if (is_recorded(args.stream)) check_cublaslt(status, "product");
      forget_error();
      tell_once(message("cuBLASLt: algorithm ", current_ + 1, " of ", algorithms_.size(), " failed (",
                        cublaslt().status_string(status), ") for ", text_of(s_), " in ", name_of(dtype_), ": ",
                        current_ + 1 < algorithms_.size() ? "the next" : "a slow one of our own", " takes its place"));
    }
    compute_ourselves(args);
  }

 private:
  cublasStatus_t multiply(const KernelArgs& args, const cublasLtMatmulAlgo_t& algorithm) const {
    const double one = 1, kept = s_.accumulate ? 1 : 0;
    const float one_f = 1, kept_f = s_.accumulate ? 1 : 0;
    const bool is_double = dtype_ == DType::f64;
    return cublaslt().matmul(libraries_->cublaslt(), product_.get(),
                             is_double ? static_cast<const void*>(&one) : &one_f, args.inputs[1], b_.get(),
                             args.inputs[0], a_.get(), is_double ? static_cast<const void*>(&kept) : &kept_f,
                             args.outputs[0], c_.get(), args.outputs[0], c_.get(), &algorithm, args.workspace,
                             kWorkspace, static_cast<cudaStream_t>(args.stream));
  }

  void compute_ourselves(const KernelArgs& args) const {
    launch_plain_product(args.stream, dtype_, s_, args.inputs[0], args.inputs[1],
                         s_.epilogue.bias ? args.inputs[2] : nullptr, args.outputs[0]);
    if (s_.epilogue.gelu_grad)
      launch_epilogue(args.stream, dtype_, rows_of_c(s_), s_.epilogue, args.inputs[2], args.outputs[0]);
    if (s_.sums_a) launch_plain_sums(args.stream, dtype_, s_, args.inputs[0], args.outputs[1]);
  }

  Preference preference() const {
    cublasLtMatmulPreference_t made = nullptr;
    check_cublaslt(cublaslt().create_preference(&made), "preference");
    Preference owned(made);
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t name, auto value) {
      check_cublaslt(cublaslt().set_preference(made, name, &value, sizeof value), "preference");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspace));
    // Parts of a sum are added in f32 where c is bf16 or f16.
    if (wide_of(dtype_) != dtype_)
      set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    // cuBLASLt expects matrices to be aligned unless told otherwise.
    if (s_.unaligned)
      for (const auto name : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                              CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
        set(name, static_cast<std::uint32_t>(bytes_of(dtype_)));
    return owned;
  }

  void find_algorithms() {
    // What cuBLASLt finds depends on the alignment of the bias, the sums or gelu's input. It does not read them yet. A
    // part's bias begins at a pack.
    const auto alignment = static_cast<std::uintptr_t>(s_.unaligned ? kPackBytes : kGpuAlignment);
    if (beside_.epilogue != CUBLASLT_EPILOGUE_DEFAULT) set_product(product_, beside_.pointer, alignment);
    std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> found{};
    int count = 0;
    const cublasStatus_t status =
        cublaslt().find_algorithms(libraries_->cublaslt(), product_.get(), b_.get(), a_.get(), c_.get(), c_.get(),
                                   preference().get(), kMostAlgorithms, found.data(), &count);
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; ++i)
      if (found[i].state == CUBLAS_STATUS_SUCCESS && found[i].workspaceSize <= static_cast<std::size_t>(kWorkspace))
        algorithms_.push_back(found[i].algo);
    if (!algorithms_.empty()) return;
    forget_error();
    lack_ = status == CUBLAS_STATUS_SUCCESS ? "none that works" : cublaslt().status_string(status);
  }

  GemmShape s_;
  DType dtype_;
  ProductDescriptor product_;
  MatrixLayout a_, b_, c_;
  Beside beside_;
  std::shared_ptr<GpuLibraries> libraries_;  // null: the GPU is not there
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::string lack_;
  mutable std::size_t current_ = 0;  // of the algorithms; after the last: our own product
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_cublaslt(const GemmShape& shape, DType dtype, const DeviceInfo& device) {
  check(is_float(dtype), "no product of ", name_of(dtype));
  check(!shape.wide_b, "no product of ", name_of(dtype), " and ", name_of(wide_of(dtype)), " on a GPU");
  GemmShape theirs = shape;
  theirs.epilogue.relu = false;                   // theirs makes 0 of NaN
  if (dtype == DType::f64) theirs.epilogue = {};  // there it has no bias
  if (!gives_gradients_on_the_way(dtype)) theirs.epilogue.gelu_grad = false;
  if (theirs.sums_a && !gives_gradients_on_the_way(dtype)) return nullptr;
  auto product = std::make_unique<CublasLtGemm>(theirs, dtype, device);
  if (!product->lack().empty() && theirs.sums_a) return nullptr;
  if (!product->lack().empty() && !theirs.epilogue.is_empty()) {
    theirs.epilogue = {};
    product = std::make_unique<CublasLtGemm>(theirs, dtype, device);
  }
  if (!product->lack().empty())
    tell_once(message("cuBLASLt has no algorithm (", product->lack(), ") for ", text_of(shape), " in ", name_of(dtype),
                      ": computed by a slow one of our own"));
  const Epilogue ours{.bias = shape.epilogue.bias && !theirs.epilogue.bias,
                      .relu = shape.epilogue.relu,
                      .gelu_grad = shape.epilogue.gelu_grad && !theirs.epilogue.gelu_grad};
  return with_epilogue(std::move(product), ours, rows_of_c(shape), dtype, device);
}

}  // namespace lethe
