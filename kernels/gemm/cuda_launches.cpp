#include "kernels/gemm/cuda_launches.h"

#include "kernels/gemm/epilogue_index.h"
#include "kernels/gemm/plain.h"

namespace lethe {

void launch_epilogue(void* stream, DType dtype, const EpilogueRows& rows, const Epilogue& epilogue, const void* operand,
                     void* y) {
  apply_epilogue(Cuda{}, stream, dtype, rows, epilogue, operand, y);
}

void launch_plain_product(void* stream, DType dtype, const GemmShape& s, const void* a, const void* b, const void* bias,
                          void* c) {
  const std::int64_t elements = s.batch * s.m * s.n;
  for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (s.wide_c)
      parallel_for(Cuda{}, stream, elements, PlainProduct<T, Compute<T>>(s, a, b, bias, c));
    else
      parallel_for(Cuda{}, stream, elements, PlainProduct<T, T>(s, a, b, bias, c));
  });
}

void launch_plain_sums(void* stream, DType dtype, const GemmShape& s, const void* a, void* sums) {
  sum_plainly(Cuda{}, stream, dtype, s, a, sums);
}

}  // namespace lethe
