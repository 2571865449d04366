// How many threads of a GPU hold a row.
#pragma once
#include <cstdint>

#include "kernels/reduce/held_team.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Threads of a team that holds rows of so many packs, and of its block: a team of several warps has one to itself.
struct HeldBlock {
  unsigned team, threads;
  HeldBlock(std::int64_t packs, bool same_steps)
      : team(HeldTeam::threads_for(packs, same_steps)), threads(team > 32 ? team : 128) {}
  std::int64_t teams() const { return threads / team; }
};

}  // namespace lethe
#endif
