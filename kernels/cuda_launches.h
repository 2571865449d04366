// Device code of our own that kernels by cuDNN and cuBLAS are completed with. nvcc reads the source, so that those
// kernels can be compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "framework/program.h"

namespace lethe {

/// y[row, c] += bias[c]; f32 or f64, row-major, on the stream.
void launch_add_bias(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, void* y);

}  // namespace lethe
