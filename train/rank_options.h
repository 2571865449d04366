// What the command line says of several ranks.
#pragma once
#include <optional>

#include "framework/micro_batches.h"
#include "framework/traffic.h"

namespace lethe {

struct RankOptions {
  std::optional<std::int64_t> shards = {};  // of a batch; none: 1, or on several ranks up to 8
  std::int64_t ranks = 1;                   // of `plan`
  std::optional<Link> network = {};         // of `plan`
  std::int64_t bucket = Shards{}.bucket;    // bytes
  int zero = 0;                             // Shards::zero
  std::int64_t timeout = 120;               // seconds that ranks wait for each other
};

}  // namespace lethe
