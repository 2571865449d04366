// Into what parts a batch is cut, and which rank has which of them.
#pragma once
#include "train/session/settings.h"

namespace lethe {

/// Fails unless shards divide the batch, ranks the shards, and micro-batches a shard.
Shards shards_of(const ProgramSetting& setting);

}  // namespace lethe
