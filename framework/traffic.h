// What the ranks of a program give each other in a step, found in the program: no rank needs to be there.
#pragma once
#include <cstdint>

#include "framework/program.h"

namespace lethe {

/// Of each rank.
struct Traffic {
  std::int64_t bytes = 0;      // sent, and as many received
  std::int64_t exchanges = 0;  // in which all ranks send and receive at once, one after the other
};
Traffic traffic_of(const Program& program);

/// Between two ranks; all send at once, each at this rate.
struct Link {
  double bytes = 0, latency = 0;  // a second; seconds
  double seconds_of(const Traffic& traffic) const {
    return static_cast<double>(traffic.exchanges) * latency + static_cast<double>(traffic.bytes) / bytes;
  }
};

}  // namespace lethe
