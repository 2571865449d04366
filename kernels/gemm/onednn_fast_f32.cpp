#include "kernels/gemm/providers.h"
#include "kernels/gemm/three_products.h"

namespace lethe {

std::unique_ptr<Kernel> prepare_gemm_fast_f32(const GemmShape& s, int threads) {
  const bool is_of_weights = s.transpose_a && !s.transpose_b;  // which f32's own adds up in parts, as of convolutions
  if ((is_of_weights ? s.k / 4 : s.k) < kShortestSum) return nullptr;
  GemmShape deep = s;
  deep.k *= 3;
  deep.epilogue = {};
  deep.wide_c = true;
  auto product = prepare_gemm_onednn(deep, DType::bf16, threads);
  if (!product) return nullptr;
  const FactorRows a = s.transpose_a ? FactorRows{s.batch, s.k * s.m} : FactorRows{s.batch * s.m, s.k},
                   b = s.transpose_b ? FactorRows{s.batch * s.n, s.k} : FactorRows{s.batch, s.k * s.n};
  return prepare_three_products(a, b, std::move(product));
}

}  // namespace lethe
