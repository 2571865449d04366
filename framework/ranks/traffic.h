// What the ranks of a program give each other in a step, found in the program: no rank needs to be there.
#pragma once
#include <cstdint>

#include "framework/language/program.h"

namespace lethe {

/// How a sum comes to all ranks.
enum class Exchange {
  Pieces,  // each adds up a piece for all and sends it to all: what runs do (train/ranks/collectives.h)
  Ring,    // pieces go round, from neighbour to neighbour
  Tree     // sums go up a binary tree and come down again
};

/// Of each rank; of a tree of the rank that has most of it.
struct Traffic {
  std::int64_t bytes = 0;      // sent, and as many received
  std::int64_t exchanges = 0;  // in which all ranks send and receive at once, one after the other
  std::int64_t messages = 0;   // sent in these, one after the other
  Traffic& operator+=(const Traffic& other);
};
/// Nothing of an op that begins none.
Traffic traffic_of(const Program& program, const Op& op, Exchange how = Exchange::Pieces);
/// Of a step.
Traffic traffic_of(const Program& program);

/// Between two ranks; all send at once, each at this rate.
struct Link {
  static constexpr double kMessage = 1e-6;  // seconds that a rank takes to send one, by rule of thumb
  double bytes = 0, latency = 0;            // a second; seconds
  double seconds_of(const Traffic& traffic) const;
};

}  // namespace lethe
