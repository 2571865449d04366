#include "memopt/pack/time.h"

#include <algorithm>

namespace lethe {

PackTime::PackTime(const std::vector<PackItem>& items) {
  start.reserve(2 * items.size());
  for (const PackItem& item : items) start.push_back(item.lower), start.push_back(item.upper);
  std::sort(start.begin(), start.end());
  start.erase(std::unique(start.begin(), start.end()), start.end());
  sections = std::max(0, static_cast<int>(start.size()) - 1);
  const auto section_of = [this](std::int64_t instant) {
    return static_cast<int>(std::lower_bound(start.begin(), start.end(), instant) - start.begin());
  };
  std::vector<std::int64_t> change(start.size());
  for (const PackItem& item : items) {
    begin.push_back(section_of(item.lower));
    end.push_back(section_of(item.upper));
    change[begin.back()] += item.size;
    change[end.back()] -= item.size;
  }
  std::int64_t live = 0;
  for (int s = 0; s < sections; ++s) load.push_back(live += change[s]);
}

}  // namespace lethe
