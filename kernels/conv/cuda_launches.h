// Windows to columns and back on a GPU, as plain functions: nvcc reads their source, so that convolutions by cuBLAS
// are compiled by the C++ compiler alone.
#pragma once
#include <cstdint>

#include "framework/language/program.h"
#include "kernels/conv/windows.h"

namespace lethe {

/// to[i] = from[i], from f32 to a float dtype.
void launch_narrow(void* stream, DType dtype, std::int64_t n, const void* from, void* to);
/// Windows of an image to columns, and back, from columns of wide_of(dtype).
void launch_unfold(void* stream, DType dtype, const Windows& windows, const void* image, void* columns);
void launch_fold(void* stream, DType dtype, const Windows& windows, const void* columns, void* image);

}  // namespace lethe
