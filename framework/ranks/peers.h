// The processes that train one network together, each on its share of the batch. What they give each other are sums
// along a binary tree over the ranks, so that the same shards give the same bits however many ranks there are
// (micro_batches.h), and values of all ranks side by side.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// That a program or a file may speak of.
inline constexpr std::int64_t kMostRanks = 1 << 20;

/// Which of how many processes.
struct Rank {
  std::int64_t number = 0, of = 1;
  bool operator==(const Rank&) const = default;
};

/// A share of values that ranks hold between them: equally many each, in order, the last ones fewer or none.
struct Share {
  std::int64_t begin = 0, count = 0;
};
/// What a var for the share of any rank has room for: a number of blocks of states in 8 bits (block_formats.h), where
/// there may be such.
std::int64_t size_of_share(std::int64_t count, std::int64_t ranks);
Share share_of(std::int64_t count, Rank rank);

/// Values of which each rank has its share, at its place: of `bytes`, in shares of `share`.
struct Shared {
  void* values = nullptr;
  std::int64_t bytes = 0, share = 0;
};

/// What moves bytes between ranks. All ranks start the same operations on the same sizes in the same order; each is
/// done while the caller goes on, until finish(). Used by one thread at a time. Values lie in the host's memory, or for
/// Device::value_peers() in the device's: then to start and to finish something takes its turn in the device's stream,
/// as kernels do, and the host does not wait.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual Rank rank() const = 0;
  /// Begins to make `count` values of f32 or f64 their sums over all ranks: two neighbours are added, then two such
  /// sums, and so on. `room`: room_of_sum() values. Both belong to the peers until finish(values).
  virtual void start_sum(void* values, void* room, DType dtype, std::int64_t count) = 0;
  /// The same for the own share alone: after finish() the others hold anything.
  virtual void start_sum_of_share(void* values, void* room, DType dtype, std::int64_t count) = 0;
  /// Begins to fetch the shares of all other ranks, the own ones filled in. All of it belongs to the peers until
  /// finish() of the first.
  virtual void start_gather(std::vector<Shared> all) = 0;
  /// Waits until what was started with these values is done. Fails with Exit::Device if a rank does not take part, and
  /// names it where it is known: between GPUs alone it may not be.
  virtual void finish(const void* values) = 0;
  /// Finishes all that was started, as what is recorded in one piece must; where nothing is recorded, that can wait.
  virtual void finish_piece() {}
  /// Before the host waits for the device: returns when its stream has come to the end. Fails as finish() does.
  virtual void wait_for_device() {}
  /// The same of `bytes` of each rank, and finish().
  void gather(void* values, std::int64_t bytes) {
    start_gather({{values, bytes * rank().of, bytes}});
    finish(values);
  }
};

/// How many of `count` values a rank sums at a time.
std::int64_t piece_of_sum(std::int64_t count, std::int64_t ranks);
/// What start_sum() needs beside the values: such a piece from each other rank.
std::int64_t room_of_sum(std::int64_t count, std::int64_t ranks);

}  // namespace lethe
