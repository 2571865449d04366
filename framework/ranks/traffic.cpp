#include "framework/ranks/traffic.h"

#include "framework/language/core_ops.h"
#include "framework/language/op_attrs.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/ranks/peers.h"

namespace lethe {
namespace {

/// The height of a binary tree over so many.
std::int64_t height_of(std::int64_t ranks) {
  std::int64_t height = 0;
  while ((std::int64_t{1} << height) < ranks) ++height;
  return height;
}

/// Of what each rank has of a value of all, `bytes` of it.
Traffic traffic_of_gather(std::int64_t bytes, std::int64_t ranks, Exchange how) {
  const std::int64_t others = ranks - 1, sent = others * bytes;
  if (how == Exchange::Pieces) return {.bytes = sent, .exchanges = 1, .messages = others};
  const std::int64_t exchanges = how == Exchange::Ring ? others : height_of(ranks);
  return {.bytes = sent, .exchanges = exchanges, .messages = exchanges};
}

/// Of a sum that comes to all ranks, in two ways there and back, or in shares to each.
Traffic traffic_of_sum(const Var& x, std::int64_t ranks, std::int64_t ways, Exchange how) {
  const std::int64_t bytes = bytes_of(x), others = ranks - 1;
  if (how == Exchange::Tree) {
    const std::int64_t levels = ways * height_of(ranks);
    return {.bytes = levels * bytes, .exchanges = levels, .messages = levels};
  }
  const std::int64_t sent = ways * (bytes * others + others) / ranks;
  if (how == Exchange::Ring) return {.bytes = sent, .exchanges = ways * others, .messages = ways * others};
  const std::int64_t count = elements(x.shape), at_once = piece_of_sum(count, ranks) * ranks;
  const std::int64_t exchanges = ways * ((count + at_once - 1) / at_once);
  return {.bytes = sent, .exchanges = exchanges, .messages = exchanges * others};
}

/// Of the shares of several parameters, which travel together.
std::int64_t bytes_of_shares(const Program& program, const std::vector<VarId>& params, std::int64_t ranks) {
  std::int64_t bytes = 0;
  for (const VarId v : params) {
    const Var& param = program.vars[v];
    bytes += size_of_share(elements(param.shape), ranks) * bytes_of(param.dtype);
  }
  return bytes;
}

}  // namespace

Traffic& Traffic::operator+=(const Traffic& other) {
  bytes += other.bytes;
  exchanges += other.exchanges;
  messages += other.messages;
  return *this;
}

Traffic traffic_of(const Program& program, const Op& op, Exchange how) {
  if (!begins_exchange(op)) return {};
  const bool sums = op.type == kAllReduceStart, gathers = op.type == kAllGatherStart;
  const std::int64_t ranks = op.attrs.integer(kRanks);
  if (op.type == kGatherParamsStart) return traffic_of_gather(bytes_of_shares(program, op.in, ranks), ranks, how);
  const Var& x = program.vars[op.in[0]];
  return gathers ? traffic_of_gather(bytes_of(x), ranks, how) : traffic_of_sum(x, ranks, sums ? 2 : 1, how);
}

Traffic traffic_of(const Program& program) {
  Traffic all;
  for (const Op& op : program.blocks[0].ops) all += traffic_of(program, op);
  return all;
}

double Link::seconds_of(const Traffic& traffic) const {
  return static_cast<double>(traffic.exchanges) * latency + static_cast<double>(traffic.messages) * kMessage +
         static_cast<double>(traffic.bytes) / bytes;
}

}  // namespace lethe
