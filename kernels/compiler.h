// Which compiler is reading: nvcc, or a C++ compiler. LETHE_SIMT: device code runs on the host, for tests
// (tests/simt/). LETHE_PLANS_ONLY: kernels for a GPU are prepared, which plans ask for, and cannot run.
#pragma once
#if defined(__CUDACC__) || defined(LETHE_SIMT) || defined(LETHE_PLANS_ONLY)
#define LETHE_DEVICE_CODE 1
#include "kernels/simt.h"
#define HD __host__ __device__
#else
#define HD
#endif
