// The epilogue and a product of our own on a GPU, as plain functions: nvcc reads its source, so that kernels by
// cuBLAS and cuDNN are compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace lethe {

/// y[row, c] = relu(y[row, c] + bias[c]), without what is not asked for; of floats, on the stream.
void launch_epilogue(void* stream, DType dtype, const EpilogueRows& rows, const void* bias, bool relu, void* y);

/// A product as prepare_gemm's, without relu; bias: null if there is none.
void launch_plain_product(void* stream, DType dtype, const GemmShape& shape, const void* a, const void* b,
                          const void* bias, void* c);

}  // namespace lethe
