#include "tests/simulated/cublaslt_product.h"

#include <cmath>
#include <vector>

#include "tests/simulated/numbers.h"

namespace lethe::simulated {
namespace {

/// Of the cubic form with tanh.
double gelu_slope(double x) {
  constexpr double kScale = 0.7978845608028654, kCubic = 0.044715;  // the first: sqrt(2 / pi)
  const double t = std::tanh(kScale * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kScale * (1 + 3 * kCubic * x * x);
}

/// The sums of op(b)'s columns over k.
void sum_columns(const Product& p, const Layout& b, const Layout& d, const Sizes& s, const std::vector<double>& bs) {
  std::vector<double> sums(static_cast<std::size_t>(s.n));
  for (std::int64_t j = 0; j < s.n; ++j)
    for (std::int64_t k = 0; k < s.k; ++k)
      sums[j] += p.transpose_b == CUBLAS_OP_T ? bs[k * b.leading + j] : bs[j * b.leading + k];
  store(dtype_of(d.type), p.bias, 0, sums.data(), s.n);
}

}  // namespace

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

std::optional<Sizes> sizes_of(const Product& p, const Layout& a, const Layout& b, const Layout& d) {
  const bool ta = p.transpose_a == CUBLAS_OP_T, tb = p.transpose_b == CUBLAS_OP_T;
  const Sizes s{ta ? a.columns : a.rows, tb ? b.rows : b.columns, ta ? a.rows : a.columns};
  const bool fit = s.k == (tb ? b.columns : b.rows) && d.rows == s.m && d.columns == s.n && a.batch == b.batch &&
                   a.batch == d.batch && a.leading >= a.rows && b.leading >= b.rows && d.leading >= d.rows;
  return fit ? std::optional(s) : std::nullopt;
}

bool is_supported(const Product& p, const Layout& a, const Layout& b, const Layout& d) {
  if (a.type != b.type) return false;
  if (!p.is_plain() && !p.adds_bias() && !p.sums_b() && !p.has_gelu()) return false;
  if (p.compute == CUBLAS_COMPUTE_64F)
    return p.scale == CUDA_R_64F && a.type == CUDA_R_64F && d.type == CUDA_R_64F && p.is_plain();
  if (p.scale != CUDA_R_32F) return false;
  if (a.type == CUDA_R_32F) return d.type == CUDA_R_32F && (p.is_plain() || p.adds_bias());
  if (p.has_gelu() && (d.batch != 1 || d.type != a.type || p.aux_leading < d.rows || p.aux_leading % 8 != 0))
    return false;
  const bool is_low = a.type == CUDA_R_16BF || a.type == CUDA_R_16F;
  return is_low && p.compute == CUBLAS_COMPUTE_32F && (d.type == a.type || d.type == CUDA_R_32F);
}

void multiply(const Product& p, const Layout& a, const Layout& b, const Layout& d, const Sizes& s, double alpha,
              double beta, const void* a_data, const void* b_data, void* d_data) {
  const auto element = [](const Layout& l) { return bytes_of(dtype_of(l.type)); };
  const auto all = [&](const Layout& l, const void* data) {
    return load(dtype_of(l.type), data, l.bytes(element(l)) / element(l));
  };
  const std::vector<double> as = all(a, a_data), bs = all(b, b_data), before = all(d, d_data);
  std::vector<double> bias(static_cast<std::size_t>(s.m));
  if (p.adds_bias()) bias = load(dtype_of(d.type), p.bias, s.m);
  if (p.sums_b()) sum_columns(p, b, d, s, bs);
  std::vector<double> aux;
  if (p.has_gelu()) aux = load(dtype_of(d.type), p.aux, (s.n - 1) * p.aux_leading + s.m);
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
      if (p.has_gelu())
        for (std::int64_t i = 0; i < s.m; ++i) column[i] *= gelu_slope(aux[j * p.aux_leading + i]);
      store(dtype_of(d.type), d_data, first, column.data(), s.m);
    }
}

}  // namespace lethe::simulated
