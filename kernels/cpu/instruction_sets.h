// What vector instructions kernels are compiled for.
#pragma once
#include <string>

namespace lethe {

/// "AVX2, FMA, AVX-512", and AMX's tiles where this processor has them; "none".
std::string instruction_sets();

}  // namespace lethe
