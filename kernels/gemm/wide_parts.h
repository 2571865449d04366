// Copies in f32 of bf16 or f16 operands, behind one another in a workspace, for what the CPU computes in f32 alone.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "kernels/each_device.h"
#include "kernels/low_floats.h"
#include "kernels/workspace.h"

namespace lethe {

/// Bytes of wide copies that are worth a round.
inline constexpr std::int64_t kRoundBytes = 8 << 20;

/// `n` floats in a workspace, behind what was laid out before.
struct WidePart {
  std::int64_t offset = 0, n = 0;
  float* at(const KernelArgs& args) const {
    return n > 0 ? reinterpret_cast<float*>(static_cast<char*>(args.workspace) + offset) : nullptr;
  }
};

class WideLayout {
 public:
  WidePart add(std::int64_t n) {
    const WidePart wide{bytes_, n};
    bytes_ += aligned(n * std::int64_t{sizeof(float)});
    return wide;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

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
