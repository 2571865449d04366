// libcublasLt as far as the project calls it, computing on the simulated GPU. As the real one it keeps to its
// descriptors: what they say of types, sizes, alignment and workspace must be so, and an algorithm serves only the
// product that it was found for.
#include <cublasLt.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "tests/simulated/numbers.h"
#include "tests/simulated/submit.h"

namespace lethe::simulated {
namespace {

struct Product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

/// Column-major.
struct Layout {
  cudaDataType_t type;
  std::int64_t rows, columns, leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  std::int64_t bytes(std::int64_t element) const {
    return ((batch - 1) * stride + (columns - 1) * leading + rows) * element;
  }
};

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

DType dtype_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return DType::f64;
    case CUDA_R_16BF:
      return DType::bf16;
    case CUDA_R_16F:
      return DType::f16;
    default:
      return DType::f32;
  }
}

struct Sizes {
  std::int64_t m, n, k;
};

/// None if the matrices do not go together.
std::optional<Sizes> sizes_of(const Product& p, const Layout& a, const Layout& b, const Layout& d) {
  const bool ta = p.transpose_a == CUBLAS_OP_T, tb = p.transpose_b == CUBLAS_OP_T;
  const Sizes s{ta ? a.columns : a.rows, tb ? b.rows : b.columns, ta ? a.rows : a.columns};
  const bool fit = s.k == (tb ? b.columns : b.rows) && d.rows == s.m && d.columns == s.n && a.batch == b.batch &&
                   a.batch == d.batch && a.leading >= a.rows && b.leading >= b.rows && d.leading >= d.rows;
  return fit ? std::optional(s) : std::nullopt;
}

/// Of the table in cuBLAS's documentation (cublasLtMatmul()), what is asked for here.
bool is_supported(const Product& p, const Layout& a, const Layout& b, const Layout& d) {
  if (a.type != b.type) return false;
  const bool adds_bias = p.epilogue == CUBLASLT_EPILOGUE_BIAS;
  if (!adds_bias && p.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return false;
  if (p.compute == CUBLAS_COMPUTE_64F)
    return p.scale == CUDA_R_64F && a.type == CUDA_R_64F && d.type == CUDA_R_64F && !adds_bias;
  if (p.scale != CUDA_R_32F) return false;
  if (a.type == CUDA_R_32F) return d.type == CUDA_R_32F;
  const bool is_low = a.type == CUDA_R_16BF || a.type == CUDA_R_16F;
  return is_low && p.compute == CUBLAS_COMPUTE_32F && (d.type == a.type || d.type == CUDA_R_32F);
}

/// d = alpha op(a) op(b) + beta d + bias.
void multiply(const Product& p, const Layout& a, const Layout& b, const Layout& d, const Sizes& s, double alpha,
              double beta, const void* a_data, const void* b_data, void* d_data) {
  const auto element = [](const Layout& l) { return bytes_of(dtype_of(l.type)); };
  const auto all = [&](const Layout& l, const void* data) {
    return load(dtype_of(l.type), data, l.bytes(element(l)) / element(l));
  };
  const std::vector<double> as = all(a, a_data), bs = all(b, b_data), before = all(d, d_data);
  std::vector<double> bias(static_cast<std::size_t>(s.m));
  if (p.epilogue == CUBLASLT_EPILOGUE_BIAS) bias = load(dtype_of(d.type), p.bias, s.m);
  std::vector<double> column(static_cast<std::size_t>(s.m));
  for (std::int64_t batch = 0; batch < d.batch; ++batch)
    for (std::int64_t j = 0; j < s.n; ++j) {
      const std::int64_t first = batch * d.stride + j * d.leading;
      for (std::int64_t i = 0; i < s.m; ++i) column[i] = (beta == 0 ? 0 : beta * before[first + i]) + bias[i];
      for (std::int64_t k = 0; k < s.k; ++k) {
        const std::int64_t row = p.transpose_b == CUBLAS_OP_T ? j : k, at = p.transpose_b == CUBLAS_OP_T ? k : j;
        const double factor = alpha * bs[batch * b.stride + at * b.leading + row];
        const double* const from = as.data() + batch * a.stride;
        if (p.transpose_a == CUBLAS_OP_T)
          for (std::int64_t i = 0; i < s.m; ++i) column[i] += factor * from[i * a.leading + k];
        else
          for (std::int64_t i = 0; i < s.m; ++i) column[i] += factor * from[k * a.leading + i];
      }
      store(dtype_of(d.type), d_data, first, column.data(), s.m);
    }
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
  const bool adds_bias = p.epilogue == CUBLASLT_EPILOGUE_BIAS;
  if (fails_at("no algorithm") || (adds_bias && fails_at("no bias"))) return CUBLAS_STATUS_NOT_SUPPORTED;
  expect(!adds_bias || (p.bias && is_aligned(p.bias, 16)), "a bias that is not said to be aligned");
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
  const auto bias_bytes = static_cast<std::size_t>(s->m * bytes_of(dtype_of(ld.type)));
  expect(p.epilogue == CUBLASLT_EPILOGUE_DEFAULT || (is_aligned(p.bias, 16) && is_device_memory(p.bias, bias_bytes)),
         "the bias");
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
