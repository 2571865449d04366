// Time as packing sees it: sections between neighbouring births and deaths, in which nothing changes.
#pragma once
#include <cstdint>
#include <vector>

#include "memopt/pack/pack.h"

namespace lethe {

struct PackTime {
  explicit PackTime(const std::vector<PackItem>& items);

  int sections = 0;
  std::vector<int> begin, end;      // by item: lives in sections [begin, end)
  std::vector<std::int64_t> start;  // by section: its first instant
  std::vector<std::int64_t> load;   // by section: bytes that live
};

}  // namespace lethe
