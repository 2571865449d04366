// What ops take on processors of a kind, measured once (bench/kinds.cpp) and the same in all plans since. Ops are of
// one kind that do the same, with numbers of one dtype, and about as many operations for a byte.
#pragma once
#include <string>
#include <vector>

#include "memopt/recompute/seconds.h"

namespace lethe {

struct KernelKind {
  std::string type;
  DType dtype = DType::f32;  // of the first input, or of the first output if there is none
  int density = 0;           // floating-point operations for a byte that is moved: between 4^(density-1) and 4^density
  auto operator<=>(const KernelKind&) const = default;
};

/// `op` runs a kernel.
KernelKind kind_of(const Program& program, const Op& op);

/// Kernels of a kind take so many times the seconds that seconds_on a CPU says.
struct KernelCost {
  const char* type;
  DType dtype;
  int density;
  double factor;
};

/// Those of which costs are shipped: "avx2" and "avx512".
std::vector<std::string> processors_with_costs();

/// Seconds of ops on such a processor. A kind that was not measured takes what the nearest density of its type and
/// dtype takes, then of its type in f32, else what the rule says. Fails, saying which there are, if there is no
/// processor of this name.
SecondsOf costs_on_processor(const std::string& name);

}  // namespace lethe
