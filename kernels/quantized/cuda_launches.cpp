#include "kernels/quantized/cuda_launches.h"

#include "kernels/quantized/dequantize.h"

namespace lethe {

void launch_dequantize(void* stream, const BlockedWeight& weight, const void* memory, std::int64_t first,
                       std::int64_t count, DType to, void* values) {
  for_float(to, [&](auto zero) {
    dequantize(Cuda{}, stream, weight, memory, first, count, static_cast<decltype(zero)*>(values));
  });
}

}  // namespace lethe
