#include "train/report/group_limit.h"

#include <algorithm>
#include <fstream>

namespace lethe {

std::optional<std::uint64_t> group_limit(const std::string& root) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // the first version says so by a number that large
  std::uint64_t least = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool second = line.starts_with("0::");  // the second version has one tree
    if (!second && line.find(":memory:") == std::string::npos) continue;
    const std::string tree = root + (second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    const char* const file = second ? "/memory.max" : "/memory.limit_in_bytes";
    for (std::string path = line.substr(line.rfind(':') + 1);; path.erase(path.rfind('/'))) {
      std::ifstream in(tree + path + file);
      if (std::uint64_t bytes = 0; in >> bytes) least = std::min(least, bytes);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least < kNoLimit ? std::optional(least) : std::nullopt;
}

}  // namespace lethe
