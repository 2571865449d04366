// Device code of our own that kernels by cuDNN and cuBLAS are completed with. nvcc reads the source, so that those
// kernels can be compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "framework/program.h"
#include "kernels/conv/windows.h"

namespace lethe {

/// y[row, c] = relu(y[row, c] + bias[c]), without what is not asked for; of floats, row-major, on the stream.
void launch_epilogue(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, bool relu,
                     void* y);
/// to[i] = from[i], from f32 to a float dtype.
void launch_narrow(void* stream, DType dtype, std::int64_t n, const void* from, void* to);
/// Windows of an image to columns, and back (kernels/conv/windows.h), from columns of wide_of(dtype).
void launch_unfold(void* stream, DType dtype, const Windows& windows, const void* image, void* columns);
void launch_fold(void* stream, DType dtype, const Windows& windows, const void* columns, void* image);

}  // namespace lethe
