// What a product is to cuBLASLt, as far as the project asks for it, and what it gives.
#pragma once
#include <cublasLt.h>

#include <optional>

#include "framework/language/program.h"

namespace lethe::simulated {

struct Product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;       // or its gradient
  const void* aux = nullptr;  // of gelu: its input
  std::int64_t aux_leading = 0;

  bool adds_bias() const { return epilogue == CUBLASLT_EPILOGUE_BIAS; }
  bool sums_b() const { return epilogue == CUBLASLT_EPILOGUE_BGRADB; }
  bool has_gelu() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
  bool is_plain() const { return epilogue == CUBLASLT_EPILOGUE_DEFAULT; }
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

DType dtype_of(cudaDataType_t type);

struct Sizes {
  std::int64_t m, n, k;
};

/// None if the matrices do not go together.
std::optional<Sizes> sizes_of(const Product& p, const Layout& a, const Layout& b, const Layout& d);

/// Of the table in cuBLAS's documentation (cublasLtMatmul()), what is asked for here.
bool is_supported(const Product& p, const Layout& a, const Layout& b, const Layout& d);

/// d = alpha op(a) op(b) + beta d + bias, or times gelu's derivative; and the sums.
void multiply(const Product& p, const Layout& a, const Layout& b, const Layout& d, const Sizes& s, double alpha,
              double beta, const void* a_data, const void* b_data, void* d_data);

}  // namespace lethe::simulated
