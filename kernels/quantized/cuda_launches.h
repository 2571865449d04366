// Numbers of a weight on a GPU, as a plain function: nvcc reads its source.
#pragma once
#include "kernels/quantized/groups.h"

namespace lethe {

/// As convert_numbers() of kernels/quantized/dequantize.h, on the stream.
void launch_converted(void* stream, const BlockedWeight& x, const void* memory, std::int64_t first, std::int64_t count,
                      DType to, void* values);

}  // namespace lethe
