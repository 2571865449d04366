// libcublasLt as far as the project calls it, computing on the simulated GPU. As the real one it keeps to its
// descriptors: what they say of types, sizes, alignment and workspace must be so, and an algorithm serves only the
// product that it was found for.
#include <cublasLt.h>

#include <array>
#include <optional>

#include "tests/simulated/cublaslt_product.h"
#include "tests/simulated/numbers.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::array<std::uint32_t, 4> alignment = {256, 256, 256, 256};  // of A, B, C and D
};

/// What stands in a cublasLtMatmulAlgo_t.
struct Algorithm {
  static constexpr std::uint64_t kMagic = 0x1e74e, kUseless = 1;  // a rank that says of itself that it does not work
  std::uint64_t magic = kMagic, workspace = 0, rank = 0;          // 0: the best
  std::array<std::uint32_t, 4> alignment = {};
  std::int64_t m = 0, n = 0, k = 0;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

template <class T, class Handle>
T& of(Handle handle) {
  return *reinterpret_cast<T*>(handle);
}
template <class Handle, class T>
Handle handle_of(T made) {
  return reinterpret_cast<Handle>(new T(made));
}

template <class T>
cublasStatus_t take(T& value, const void* from, std::size_t bytes) {
  if (bytes != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace lethe::simulated

using namespace lethe::simulated;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = handle_of<cublasLtHandle_t>(current_gpu());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete &of<int>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED      ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : status == CUBLAS_STATUS_INVALID_VALUE    ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED"
                                                    : "another status";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t scale) {
  *made = handle_of<cublasLtMatmulDesc_t>(Product{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete &of<Product>(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
  auto& p = of<Product>(product);
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(p.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(p.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(p.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(p.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return take(p.aux, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return take(p.aux_leading, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  *made = handle_of<cublasLtMatrixLayout_t>(
      Layout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, std::size_t bytes) {
  auto& l = of<Layout>(layout);
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return take(l.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return take(l.stride, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = handle_of<cublasLtMatmulPreference_t>(Preference{});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &of<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void* value,
                                                    std::size_t bytes) {
  auto& p = of<Preference>(preference);
  switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return take(p.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return take(p.reductions, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return take(p.alignment[0], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return take(p.alignment[1], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return take(p.alignment[2], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return take(p.alignment[3], value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int room,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  expect(of<int>(handle) == current_gpu(), "a handle of another GPU");
  const auto& p = of<Product>(product);
  const auto &la = of<Layout>(a), &lb = of<Layout>(b), &ld = of<Layout>(d);
  const std::optional<Sizes> s = sizes_of(p, la, lb, ld);
  if (!s) return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_supported(p, la, lb, ld)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (fails_at("no algorithm") || (p.adds_bias() && fails_at("no bias")) ||
      ((p.sums_b() || p.has_gelu()) && fails_at("no gradients")))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const void* const beside = p.has_gelu() ? p.aux : p.bias;
  expect(p.is_plain() || (beside && is_aligned(beside, 16)), "what stands beside is not said to be aligned");
  const auto& asked = of<Preference>(preference);
  const bool is_low = la.type == CUDA_R_16BF || la.type == CUDA_R_16F;
  expect(!is_low || asked.reductions == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, "sums that may be rounded on the way");
  for (std::uint64_t rank = 0; rank < 3 && *count < room; ++rank, ++*count) {
    const Algorithm algorithm{
        .workspace = asked.workspace, .rank = rank, .alignment = asked.alignment, .m = s->m, .n = s->n, .k = s->k};
    cublasLtMatmulHeuristicResult_t& result = results[*count];
    std::memcpy(&result.algo, &algorithm, sizeof algorithm);
    result.workspaceSize = asked.workspace;
    result.state = rank == Algorithm::kUseless ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void* alpha,
                              const void* a_data, cublasLtMatrixLayout_t a, const void* b_data,
                              cublasLtMatrixLayout_t b, const void* beta, const void* c_data, cublasLtMatrixLayout_t c,
                              void* d_data, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  expect(of<int>(handle) == gpu_of(stream), "a stream of another GPU");
  const Product p = of<Product>(product);
  const Layout la = of<Layout>(a), lb = of<Layout>(b), ld = of<Layout>(d);
  const std::optional<Sizes> s = sizes_of(p, la, lb, ld);
  if (!s || c != d || c_data != d_data) return CUBLAS_STATUS_INVALID_VALUE;
  Algorithm algorithm;
  std::memcpy(static_cast<void*>(&algorithm), algo, sizeof algorithm);
  expect(algorithm.magic == Algorithm::kMagic, "an algorithm that was not found");
  expect(algorithm.rank != Algorithm::kUseless, "an algorithm that said it does not work");
  if (fails_at("every product") || (algorithm.rank == 0 && fails_at("product"))) return CUBLAS_STATUS_EXECUTION_FAILED;
  expect(algorithm.m == s->m && algorithm.n == s->n && algorithm.k == s->k, "an algorithm of another product");
  expect(workspace_bytes >= algorithm.workspace && is_aligned(workspace, 256), "the workspace");
  expect(is_device_memory(workspace, workspace_bytes), "the workspace is not on the GPU");
  const std::array<const void*, 4> data = {a_data, b_data, c_data, d_data};
  for (std::size_t i = 0; i < data.size(); ++i) expect(is_aligned(data[i], algorithm.alignment[i]), "alignment");
  const auto is_there = [](const Layout& l, const void* at) {
    return is_device_memory(at, static_cast<std::size_t>(l.bytes(bytes_of(dtype_of(l.type)))));
  };
  expect(is_there(la, a_data) && is_there(lb, b_data) && is_there(ld, d_data), "a matrix is not on the GPU");
  const std::int64_t beside = p.has_gelu() ? (s->n - 1) * p.aux_leading + s->m : p.sums_b() ? s->n : s->m;
  const void* const at = p.has_gelu() ? p.aux : p.bias;
  const auto beside_bytes = static_cast<std::size_t>(beside * bytes_of(dtype_of(ld.type)));
  expect(p.is_plain() || (is_aligned(at, 16) && is_device_memory(at, beside_bytes)), "what stands beside");
  const bool is_double = p.scale == CUDA_R_64F;
  const auto scale = [&](const void* at) {
    return is_double ? *static_cast<const double*>(at) : static_cast<double>(*static_cast<const float*>(at));
  };
  submit(stream, [=, sizes = *s, alpha = scale(alpha), beta = scale(beta)] {
    spoil(workspace, workspace_bytes);
    multiply(p, la, lb, ld, sizes, alpha, beta, a_data, b_data, d_data);
  });
  return CUBLAS_STATUS_SUCCESS;
}
