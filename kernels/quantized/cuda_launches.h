// Numbers of a weight in blocks on a GPU, as a plain function: nvcc reads its source.
#pragma once
#include "kernels/quantized/groups.h"

namespace lethe {

/// As dequantize() of kernels/quantized/dequantize.h, to floats of `to`, on the stream.
void launch_dequantize(void* stream, const BlockedWeight& weight, const void* memory, std::int64_t first,
                       std::int64_t count, DType to, void* values);

}  // namespace lethe
