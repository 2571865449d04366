// Tensors of floats as doubles, for libraries that compute exactly and round once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/language/program.h"
#include "kernels/low_floats.h"

namespace lethe::simulated {

/// What a GPU would answer with a wrong result or a fault.
inline void expect(bool holds, const char* what) {
  if (!holds) throw std::logic_error(std::string("a wrong call of a library: ") + what);
}

inline bool is_set_to(const char* variable, const char* point) {
  const char* const set = std::getenv(variable);
  return set && std::strcmp(set, point) == 0;
}

/// Whether SIMULATED_GPU_SLOW says that cuDNN is slow with these engines of each graph: "best", "others".
inline bool is_slow_with(const char* engines) { return is_set_to("SIMULATED_GPU_SLOW", engines); }

/// Whether SIMULATED_GPU_FAILS says that a library fails at this point. cuDNN: "heuristics" (no engine at all),
/// "finalize" and "execute" (the best engine of each graph) or "every finalize" and "every execute". cuBLASLt: "no
/// algorithm", "no bias" (none with a bias), "no gradients" (none with sums or gelu's derivative), "product" (the best
/// algorithm) or "every product". NCCL: "nccl" (it is not there), "nccl version" (an old one), "nccl join", "nccl send"
/// or "nccl later" (what was sent).
inline bool fails_at(const char* point) {
  const bool fails = is_set_to("SIMULATED_GPU_FAILS", point);
  if (fails && std::getenv("SIMULATED_GPU_TELL")) std::fprintf(stderr, "simulated GPU: fails at %s\n", point);
  return fails;
}

/// Calls f with a zero of the float dtype.
template <class F>
void with_zero(DType dtype, const F& f) {
  if (dtype == DType::f64) return f(0.0);
  if (dtype == DType::f32) return f(0.0F);
  if (dtype == DType::bf16) return f(Bf16(0));
  f(F16(0));
}

inline std::vector<double> load(DType dtype, const void* from, std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  with_zero(dtype, [&](auto zero) {
    const auto* const first = static_cast<const decltype(zero)*>(from);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(compute(first[i]));
  });
  return numbers;
}

/// Elements first, first + 1...
inline void store(DType dtype, void* to, std::int64_t first, const double* numbers, std::int64_t count) {
  with_zero(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < count; ++i) static_cast<T*>(to)[first + i] = static_cast<T>(numbers[i]);
  });
}

inline bool is_aligned(const void* address, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

/// What a library may leave in its workspace.
inline void spoil(void* workspace, std::size_t bytes) {
  if (bytes > 0) std::memset(workspace, 0xFF, bytes);
}

}  // namespace lethe::simulated
