// What the command line says of several ranks.
#pragma once
#include <optional>

#include "framework/ranks/micro_batches.h"
#include "framework/ranks/traffic.h"

namespace lethe {

inline constexpr const char* kZeroAuto =
    "--zero auto is the stage that sends least and fits the --memory-budget, which it needs; it goes without --sweep "
    "and "
    "a batch of auto";

struct RankOptions {
  std::optional<std::int64_t> shards = {};  // of a batch; none: 1, or on several ranks up to 8
  std::int64_t ranks = 1;                   // of `plan`
  std::int64_t most = 0;                    // of `plan`: predicts from `ranks` to so many; 0: does not
  std::optional<Exchange> exchange = {};    // of that; none: Pieces
  std::optional<Link> network = {};         // of `plan`
  std::int64_t bucket = Shards{}.bucket;    // bytes
  int zero = 0;                             // Shards::zero
  bool cheapest_zero = false;               // instead: auto, the cheapest that fits the memory budget
  DType sums = Shards{}.sums;               // of shards
  bool sync_bn = false;                     // batch norm over all shards
  bool sharded = false;                     // checkpoints, of which each rank writes its share
  std::int64_t timeout = 120;               // seconds that ranks wait for each other
};

}  // namespace lethe
