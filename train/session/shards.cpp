#include "train/session/shards.h"

#include <algorithm>

#include "framework/error.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

/// The next divisor of `number` from `at` on, up or down.
std::int64_t divisor_near(std::int64_t number, std::int64_t at, std::int64_t direction) {
  while (number % at != 0) at += direction;
  return at;
}

}  // namespace

Shards shards_of(const ProgramSetting& setting) {
  const std::int64_t batch = setting.network.batch, shards = setting.shards.parts, ranks = setting.shards.rank.of;
  check(batch % shards == 0, "a batch of ", batch, " cannot be cut into ", shards, " shards; but into ",
        divisor_near(batch, std::min(shards, batch), -1), " and ", divisor_near(batch, std::min(shards, batch), 1));
  check(ranks <= shards, ranks, " ranks are more than ", shards, " shards; try `shards` ", ranks);
  check(shards % ranks == 0, ranks, " ranks do not divide ", shards, " shards");
  const std::int64_t shard = batch / shards, each = setting.micro_batch == 0 ? shard : setting.micro_batch;
  const char* const whole = shards > 1 ? "a shard" : "a batch";
  check(each <= shard, "a micro-batch of ", each, " is larger than ", shards > 1 ? "a shard" : "the batch", " of ",
        shard);
  check(shard % each == 0, whole, " of ", shard, " cannot be cut into micro-batches of ", each, "; but into those of ",
        divisor_near(shard, each, -1), " and of ", divisor_near(shard, each, 1));
  Shards cut = setting.shards;
  cut.parts = batch / each;
  cut.seed = setting.network.seed;
  if (ranks == 1) cut.zero = 0;
  check(cut.parts == 1 || !setting.memory.guest, "a batch in parts has no place in the memory of ",
        setting.memory.text);
  check(cut.parts <= kMostParts, "a batch of ", batch, " in micro-batches of ", each, " has ", cut.parts,
        " parts, more than ", kMostParts);
  return cut;
}

}  // namespace lethe
