// The epilogue, sums of columns and a product of our own on a GPU, as plain functions: nvcc reads their source, so that
// kernels by cuBLAS and cuDNN are compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace lethe {

/// The epilogue of y, of floats, on the stream; `operand`: the bias or x, null if there is none.
void launch_epilogue(void* stream, DType dtype, const EpilogueRows& rows, const Epilogue& epilogue, const void* operand,
                     void* y);

/// A product as prepare_gemm's, of whose epilogue it does the bias alone; bias: null if there is none. And its sums_a.
void launch_plain_product(void* stream, DType dtype, const GemmShape& shape, const void* a, const void* b,
                          const void* bias, void* c);
void launch_plain_sums(void* stream, DType dtype, const GemmShape& shape, const void* a, void* sums);

}  // namespace lethe
