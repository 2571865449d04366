// Packing: an offset in one arena for everything that lives for a while, in as few bytes as can be found, and how few
// can be proven.
#pragma once
#include <cstdint>
#include <vector>

namespace lethe {

/// `size` bytes in the half-open time [lower, upper).
struct PackItem {
  std::int64_t lower = 0, upper = 0, size = 0;
  bool operator==(const PackItem&) const = default;
};

struct PackOptions {
  std::int64_t capacity = -1;  // the first packing within it will do; -1: as low as possible
  double seconds = 1;          // about; counted in work, so that the result never depends on the clock
  std::int64_t alignment = 1;  // of offsets and, rounded up, of sizes
};

struct Packing {
  std::vector<std::int64_t> offsets;  // by item; 0 for what has no size or no life
  std::int64_t height = 0;            // bytes of the arena
  std::int64_t lower_bound = 0;       // most bytes (of rounded sizes) that live at one instant
  std::int64_t bound_instant = 0;     // the first such instant
  std::int64_t proven = 0;            // no packing is smaller: the lower bound, or more after an exhausted search
  bool certified = false;             // height == proven
};

/// Most that the sizes, rounded up, may add up to: sums and differences of offsets stay far from overflow.
inline constexpr std::int64_t kMostPackBytes = std::int64_t{1} << 60;

/// Fails with Exit::Data if an item has a negative size or ends before it begins, or the sizes add up to too much.
Packing pack(const std::vector<PackItem>& items, const PackOptions& options = {});

}  // namespace lethe
