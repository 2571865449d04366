// The processes that train one network together, each on its share of the batch. What they give each other are sums
// along a binary tree over the ranks, so that the same shards give the same bits however many ranks there are
// (micro_batches.h), and values of all ranks side by side.
#pragma once
#include <cstdint>

#include "framework/program.h"

namespace lethe {

/// Which of how many processes.
struct Rank {
  std::int64_t number = 0, of = 1;
  bool operator==(const Rank&) const = default;
};

/// What moves bytes between ranks. All ranks start the same operations on the same sizes in the same order; each is
/// done while the caller goes on, until finish(). Used by one thread at a time.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual Rank rank() const = 0;
  /// Begins to make `count` values of f32 or f64 their sums over all ranks: two neighbours are added, then two such
  /// sums, and so on. `room`: room_of_sum() values. Both belong to the peers until finish(values).
  virtual void start_sum(void* values, void* room, DType dtype, std::int64_t count) = 0;
  /// Begins to fetch what the other ranks have: `values` has `bytes` for each rank in turn, the own ones filled in. It
  /// belongs to the peers until finish(values).
  virtual void start_gather(void* values, std::int64_t bytes) = 0;
  /// Waits until what was started with these values is done. Fails with Exit::Device, naming a rank, if one does not
  /// take part.
  virtual void finish(const void* values) = 0;
  /// start_gather() and finish().
  void gather(void* values, std::int64_t bytes) {
    start_gather(values, bytes);
    finish(values);
  }
};

/// How many of `count` values a rank sums at a time.
std::int64_t piece_of_sum(std::int64_t count, std::int64_t ranks);
/// What start_sum() needs beside the values: such a piece from each other rank.
std::int64_t room_of_sum(std::int64_t count, std::int64_t ranks);

}  // namespace lethe
