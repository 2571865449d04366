#include "framework/traffic.h"

#include "framework/core_ops.h"
#include "framework/peers.h"

namespace lethe {

Traffic traffic_of(const Program& program) {
  Traffic all;
  for (const Op& op : program.blocks[0].ops) {
    if (op.type != kAllReduceStart && op.type != kAllGatherStart) continue;
    const Var& x = program.vars[op.in[0]];
    const std::int64_t ranks = op.attrs.integer("ranks");
    if (op.type == kAllGatherStart) {
      all.bytes += (ranks - 1) * bytes_of(x);
      all.exchanges += 1;
      continue;
    }
    const std::int64_t count = elements(x.shape), at_once = piece_of_sum(count, ranks) * ranks;
    all.bytes += 2 * (bytes_of(x) * (ranks - 1) + ranks - 1) / ranks;
    all.exchanges += 2 * ((count + at_once - 1) / at_once);
  }
  return all;
}

}  // namespace lethe
