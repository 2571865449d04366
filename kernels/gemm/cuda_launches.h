// The epilogue on a GPU, behind a plain function: nvcc reads its source, so that kernels by cuBLAS and cuDNN are
// compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "framework/program.h"

namespace lethe {

/// y[row, c] = relu(y[row, c] + bias[c]), without what is not asked for; of floats, row-major, on the stream.
void launch_epilogue(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, bool relu,
                     void* y);

}  // namespace lethe
