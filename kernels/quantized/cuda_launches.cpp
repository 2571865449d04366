#include "kernels/quantized/cuda_launches.h"

#include "kernels/quantized/coded_product.h"
#include "kernels/quantized/dequantize.h"
#include "kernels/quantized/for_groups.h"

namespace lethe {
namespace {

template <class F>
__global__ void __launch_bounds__(32 * kWarps, 3) coded_product_kernel(F f, unsigned row_blocks) {
  f(std::int64_t{blockIdx.x % row_blocks} * F::kRows, static_cast<int>(blockIdx.x / row_blocks) * F::kColumns);
}

template <class T>
struct CodedOperands {
  CodedProductShape shape;
  const std::byte* weight;
  const T *a, *bias;
  T* c;
};

/// Blocks of the same columns follow one another: what they read of the weight is in the cache after the first.
template <bool ByColumns, class T, class Groups>
void run_coded_product(void* stream, const CodedOperands<T>& of, const Groups& groups) {
  const CodedProductShape& s = of.shape;
  using Weight = CodedWeight<T, Groups, ByColumns>;
  using Product = CodedProduct<T, Weight>;
  const Weight weight{groups, of.weight, static_cast<int>(ByColumns ? s.n : s.k),
                      (ByColumns ? s.k : s.n) / groups.size()};
  const Product product{
      weight, of.a, of.bias, of.c, s.m, s.row_a, s.row_c, static_cast<int>(s.n), static_cast<int>(s.k)};
  const std::int64_t rows = (s.m + Product::kRows - 1) / Product::kRows,
                     columns = (s.n + Product::kColumns - 1) / Product::kColumns;
  LETHE_LAUNCH(coded_product_kernel<Product>, dim3(static_cast<unsigned>(rows * columns)), dim3(32 * kWarps), 0,
               static_cast<cudaStream_t>(stream), product, static_cast<unsigned>(rows));
}

}  // namespace

void launch_converted(void* stream, const BlockedWeight& x, const void* memory, std::int64_t first, std::int64_t count,
                      DType to, void* values) {
  convert_numbers(Cuda{}, stream, x, memory, first, count, to, values);
}

void launch_coded_product(void* stream, const CodedProductShape& s, DType dtype, const BlockedWeight& weight,
                          const void* memory, const void* a, const void* bias, void* c) {
  const auto in = [&](auto zero) {
    using T = decltype(zero);
    const CodedOperands<T> of{s, static_cast<const std::byte*>(memory), static_cast<const T*>(a),
                              static_cast<const T*>(bias), static_cast<T*>(c)};
    const auto run = [&](const auto& groups) {
      s.transpose_b ? run_coded_product<true>(stream, of, groups) : run_coded_product<false>(stream, of, groups);
    };
    weight.dtype == dtype ? run(PlainGroups<T>{}) : for_groups(weight, run);
  };
  dtype == DType::bf16 ? in(Bf16{}) : in(F16{});
}

}  // namespace lethe
