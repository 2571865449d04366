#include "kernels/cuda/tell_once.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace lethe {

void tell_once(const std::string& line) {
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (told.insert(line).second) std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace lethe
