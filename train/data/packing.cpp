#include "train/data/packing.h"

#include <set>
#include <utility>

namespace lethe {

std::vector<std::int32_t> windows_of_texts(std::span<const std::int32_t> lengths, std::int64_t room) {
  std::set<std::pair<std::int64_t, std::int32_t>> open;  // what is left of windows, and which they are
  std::vector<std::int32_t> windows;
  std::int32_t count = 0;
  for (const std::int32_t length : lengths) {
    auto found = open.lower_bound({length, 0});
    if (found == open.end()) found = open.emplace(room, count++).first;
    const auto [left, window] = *found;
    open.erase(found);
    if (left > length) open.emplace(left - length, window);
    windows.push_back(window);
  }
  return windows;
}

}  // namespace lethe
