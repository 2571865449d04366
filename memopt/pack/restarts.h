// The search restarted in turns.
#pragma once
#include <cstdint>
#include <vector>

#include "memopt/pack/search.h"

namespace lethe {

/// Restarts the search until it ends or has done `work`: first by each order and guide, then by orders stirred a
/// little, which leads it elsewhere from early on (Gomes, Selman, Kautz, AAAI 1998). Turns take `turn` work times the
/// sequence 1 1 2 1 1 2 4 ..., which is never far from the best (Luby, Sinclair, Zuckerman, 1993).
SearchResult search_with_restarts(PackSearch& search, const std::vector<std::vector<int>>& orders, std::int64_t turn,
                                  std::int64_t work);

}  // namespace lethe
