// CUDA's words for a C++ compiler that does not know them: it reads kernels and never instantiates one.
#pragma once
#include "framework/error.h"
#include "framework/language/launch_count.h"

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define LETHE_DYN_SHARED(T, name) T* name = nullptr
/// The kernel is not named, or it would be instantiated; what else is named is not computed.
#define LETHE_LAUNCH(kernel, ...) (static_cast<void>(sizeof(::lethe::named(__VA_ARGS__))), ::lethe::count_or_refuse())

struct dim3 {
  unsigned x, y, z;
  constexpr explicit dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
using cudaStream_t = void*;
extern const dim3 blockIdx, threadIdx, blockDim, gridDim;

void __syncthreads();
void __threadfence();
unsigned atomicAdd(unsigned* to, unsigned value);
double __ldcg(const double* from);
unsigned __ballot_sync(unsigned mask, int vote);
int __popc(unsigned bits);
double __shfl_xor_sync(unsigned mask, double value, int bits);
void __syncwarp(unsigned mask = ~0u);

namespace lethe {

template <class... A>
char named(const A&...);

[[gnu::cold]] inline void count_or_refuse() {
  if (LaunchCount::takes_launch()) return;
  fail_as(Exit::Internal, "a kernel was launched on a GPU by a program without device code");
}

}  // namespace lethe
