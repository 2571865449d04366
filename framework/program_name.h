// What the program is called by whoever started it.
#pragma once
#include <cerrno>
#include <cstring>

namespace lethe {

/// "lethe" if that is how it was called, as it is where it is installed; else "train".
inline const char* program_name() {
#if defined(__GLIBC__)
  if (std::strcmp(program_invocation_short_name, "lethe") == 0) return "lethe";
#endif
  return "train";
}

}  // namespace lethe
