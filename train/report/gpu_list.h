// The GPUs of this machine, for people.
#pragma once
#include <string>

namespace lethe {

/// A line for each with its free memory; or one that says why there is none.
std::string gpu_lines();

}  // namespace lethe
