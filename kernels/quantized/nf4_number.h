// What a code of nf4 means, on both devices.
#pragma once
#include "framework/language/block_formats.h"
#include "kernels/hd.h"

namespace lethe {

#ifdef __CUDACC__
static __device__ const Nf4Values kNf4OnGpu = kNf4Values;  // a function's own table would be in memory of each thread
#endif
HD inline float nf4_number(int code) {
#ifdef __CUDA_ARCH__
  return kNf4OnGpu.of_code[code];
#else
  return nf4_value(code);
#endif
}

}  // namespace lethe
