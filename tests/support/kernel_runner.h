// Runs a kernel on host vectors: the workspace starts as NaN and is followed by a guard.
#pragma once
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "framework/error.h"
#include "framework/language/kernel.h"
#include "kernels/low_floats.h"

namespace lethe::testing {

/// The first output, of `size` elements, all of them `before`; an absent input is null.
template <class Out>
std::vector<Out> run_kernel(const Kernel& kernel, const std::vector<const void*>& inputs, std::int64_t size,
                            Out before = std::numeric_limits<Compute<Out>>::quiet_NaN()) {
  constexpr std::size_t kAlignment = 64, kGuard = 4096;
  constexpr auto kMark = std::byte{0xff};  // as a float or a double: NaN
  const auto bytes = static_cast<std::size_t>(kernel.workspace_bytes());
  std::vector<std::byte> memory(bytes + kAlignment + kGuard, kMark);
  std::byte* const workspace =
      memory.data() + (kAlignment - reinterpret_cast<std::uintptr_t>(memory.data()) % kAlignment);

  std::vector<Out> output(static_cast<std::size_t>(size), before);
  std::vector<void*> in;
  for (const void* const input : inputs) in.push_back(const_cast<void*>(input));
  void* out = output.data();
  kernel.run({.inputs = in.data(), .outputs = &out, .workspace = workspace});
  for (const std::byte* guard = workspace + bytes; guard < memory.data() + memory.size(); ++guard)
    check(*guard == kMark, "the kernel wrote after its workspace of ", bytes, " bytes");
  return output;
}

/// The same of inputs of one type; an absent one is an empty vector.
template <class T, class Out = T>
std::vector<Out> run_kernel(const Kernel& kernel, const std::vector<std::vector<T>>& inputs, std::int64_t size,
                            Out before = std::numeric_limits<Compute<Out>>::quiet_NaN()) {
  std::vector<const void*> in;
  for (const std::vector<T>& input : inputs) in.push_back(input.empty() ? nullptr : input.data());
  return run_kernel<Out>(kernel, in, size, before);
}

}  // namespace lethe::testing
