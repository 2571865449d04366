#include "kernels/cpu/instruction_sets.h"

#include <vector>

#include "framework/error.h"
#include "kernels/cpu/bf16_units.h"

namespace lethe {

std::string instruction_sets() {
  std::vector<std::string> names;
#if defined(__AVX2__)
  names.emplace_back("AVX2");
#endif
#if defined(__FMA__)
  names.emplace_back("FMA");
#endif
#if defined(__AVX512F__)
  names.emplace_back("AVX-512");
#endif
#if defined(__AVX512BF16__)
  names.emplace_back("AVX-512 BF16");
#endif
  if (has_amx()) names.emplace_back("AMX tiles");
  return names.empty() ? "none" : joined(names);
}

}  // namespace lethe
