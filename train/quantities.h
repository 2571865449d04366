// Quantities as the command line has them.
#pragma once
#include <cstdint>
#include <string>

namespace lethe {

/// How often something happens: every `count` steps ("500") or epochs ("2e"); 0 is never.
struct Interval {
  std::int64_t count = 0;
  bool epochs = false;
  bool operator==(const Interval&) const = default;
};

/// "1500", "800MiB", "2GiB", "1.5GB": bytes; fails naming `what`.
std::int64_t parse_bytes(const std::string& text, const std::string& what);

/// "500" or "2e"; fails naming `what`.
Interval parse_interval(const std::string& text, const std::string& what);

}  // namespace lethe
