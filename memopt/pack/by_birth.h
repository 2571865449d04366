// Packing as items are born: for so many that greed does not get through them in time.
#pragma once
#include <cstdint>
#include <vector>

#include "memopt/pack/pack.h"
#include "memopt/pack/time.h"

namespace lethe {

/// Offsets by item. Each is placed when it is born, in a free range little larger than it, else on top; what dies gives
/// its range back. The steps for one item do not depend on how many there are, but for sorting them. (Free ranges in
/// lists by size, eight to a power of two, beside bitmaps of which lists have any, are those of TLSF: Masmano, Ripoll,
/// Crespo, Real, "TLSF: A New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004.)
std::vector<std::int64_t> pack_by_birth(const std::vector<PackItem>& items, const PackTime& time);

}  // namespace lethe
