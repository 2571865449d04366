#include "framework/traffic.h"

#include "framework/core_ops.h"
#include "framework/op_attrs.h"
#include "framework/peers.h"

namespace lethe {

namespace {

Traffic traffic_of(const Program& program, const Op& op) {
  const bool sums = op.type == kAllReduceStart, scatters = op.type == kReduceScatterStart,
             gathers = op.type == kAllGatherStart, gathers_params = op.type == kGatherParamsStart;
  if (!sums && !scatters && !gathers && !gathers_params) return {};
  const std::int64_t ranks = op.attrs.integer(kRanks);
  const Var& x = program.vars[op.in[0]];
  if (gathers) return {.bytes = (ranks - 1) * bytes_of(x), .exchanges = 1};
  if (gathers_params) {
    Traffic all{.exchanges = 1};
    for (const VarId v : op.in) {
      const Var& param = program.vars[v];
      all.bytes += (ranks - 1) * size_of_share(elements(param.shape), ranks) * bytes_of(param.dtype);
    }
    return all;
  }
  const std::int64_t count = elements(x.shape), at_once = piece_of_sum(count, ranks) * ranks, ways = sums ? 2 : 1;
  return {.bytes = ways * (bytes_of(x) * (ranks - 1) + ranks - 1) / ranks,
          .exchanges = ways * ((count + at_once - 1) / at_once)};
}

}  // namespace

Traffic traffic_of(const Program& program) {
  Traffic all;
  for (const Op& op : program.blocks[0].ops) {
    const Traffic one = traffic_of(program, op);
    all.bytes += one.bytes;
    all.exchanges += one.exchanges;
  }
  return all;
}

}  // namespace lethe
