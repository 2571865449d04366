// The end of the search: changes a choice at random, for better and at first a little for worse. It leaves the dead
// ends of greedy moves, which only ever let go: where bytes are scarce, a value that is kept in the midst of others
// lets these be made again in two pieces, and so takes bytes off.
#pragma once
#include <cstdint>
#include <optional>

#include "memopt/recompute/replay.h"

namespace lethe {

/// The cheapest choice that was found with a peak no higher than `target`; nothing if none was. Begins with `start`,
/// whose peak may be higher. Stops after `most` steps of runs that it looked at; the same for the same `seed` on every
/// machine.
std::optional<Rung> annealed(const Tape& tape, const Rung& start, std::int64_t target, double most, std::uint64_t seed);

}  // namespace lethe
