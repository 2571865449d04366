// How ranks sum what they have: each sums one share for all, a piece at a time, and sends round what it has summed. How
// bytes travel, and where values lie, is up to the caller.
#pragma once
#include <functional>

#include "framework/ranks/transport.h"

namespace lethe {

/// One piece of the values of all ranks.
struct Partials {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  Rank rank = {};
  void* own = nullptr;        // of this rank; becomes the sum
  void* others = nullptr;     // of the others, one after the other; may become anything
  std::int64_t distance = 0;  // of one of these from the next, in values
};
/// Adds up a piece along the tree of peers.h.
using FoldPartials = std::function<void(const Partials&)>;
/// Of values in the host's memory.
void fold_on_host(const Partials& partials);

/// As Peers::start_sum() has them.
struct Summed {
  void *values = nullptr, *room = nullptr;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  bool of_share = false;  // the own share alone is wanted
};
void sum_over_ranks(Transport& transport, const Summed& summed, const FoldPartials& fold);

/// As Peers::start_gather() has them.
void gather_over_ranks(Transport& transport, const std::vector<Shared>& all);

}  // namespace lethe
