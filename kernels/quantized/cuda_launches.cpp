#include "kernels/quantized/cuda_launches.h"

#include "kernels/quantized/dequantize.h"

namespace lethe {

void launch_converted(void* stream, const BlockedWeight& x, const void* memory, std::int64_t first, std::int64_t count,
                      DType to, void* values) {
  convert_numbers(Cuda{}, stream, x, memory, first, count, to, values);
}

}  // namespace lethe
