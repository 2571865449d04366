// For what the CPU computes in f32 alone: copies of bf16 or f16 operands, in a workspace.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "kernels/each_device.h"
#include "kernels/low_floats.h"

namespace lethe {

/// Bytes of wide copies that are worth a round.
inline constexpr std::int64_t kRoundBytes = 8 << 20;

template <class From, class To>
void convert(const From* from, To* to, std::int64_t n) {
  parallel_for(Cpu{}, nullptr, n, [=](std::int64_t i) { to[i] = from[i]; });
}

/// Runs a kernel of up to three inputs and one output.
inline void run_kernel(const Kernel& kernel, std::initializer_list<const void*> in, void* out, void* workspace) {
  void* inputs[3] = {};
  std::transform(in.begin(), in.end(), inputs, [](const void* p) { return const_cast<void*>(p); });
  kernel.run({.inputs = inputs, .outputs = &out, .workspace = workspace});
}

}  // namespace lethe
