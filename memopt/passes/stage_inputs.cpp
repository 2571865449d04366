#include "memopt/passes/stage_inputs.h"

#include <algorithm>
#include <numeric>

#include "framework/language/op_facts.h"
#include "framework/run/prepared.h"

namespace lethe {
namespace {

/// Bytes of the arena, [begin, end), that are in use before a step.
struct Tenancy {
  std::int64_t begin = 0, end = 0;
  Tick until = 0;
};

/// By their first byte.
std::vector<Tenancy> tenancies(const Program& program, const Liveness& live, const Sharing& sharing, const Plan& plan,
                               const Workspaces& workspaces) {
  std::vector<Tenancy> all;
  const auto add = [&](Place place, std::int64_t bytes, Tick until) {
    all.push_back({place.offset, place.offset + round_up(bytes, workspaces.alignment), until});
  };
  for (const Storage& s : sharing.storages)
    if (!s.life.is_empty() && plan.vars[s.root].buffer == 0) add(plan.vars[s.root], s.bytes, s.life.dies);
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < program.blocks[b].ops.size(); ++i)
      if (const Place place = plan.workspaces[b][i]; place.buffer == 0)
        add(place, workspaces.bytes[b][i], live.ops[b][i].last + 1);
  std::sort(all.begin(), all.end(), [](const Tenancy& a, const Tenancy& b) { return a.begin < b.begin; });
  return all;
}

/// Where so many bytes are idle from a step on; -1: nowhere.
std::int64_t idle_from(Tick step, const std::vector<Tenancy>& all, std::int64_t bytes, std::int64_t arena) {
  std::int64_t end = 0;
  for (const Tenancy& t : all) {
    if (t.until <= step) continue;
    if (t.begin - end >= bytes) return end;
    end = std::max(end, t.end);
  }
  return arena - end >= bytes ? end : -1;
}

}  // namespace

Staging stage_inputs(const Program& program, const Liveness& live, const Sharing& sharing, const Plan& plan,
                     const Workspaces& workspaces) {
  Staging staging;
  std::int64_t bytes = 0;
  std::vector<Place> inputs(program.vars.size());
  for (std::size_t v = 0; v < inputs.size(); ++v) {
    if (program.vars[v].kind != Kind::Input || plan.vars[v].buffer < 0) continue;
    inputs[v] = {.buffer = 0, .offset = bytes};
    bytes += round_up(bytes_of(program.vars[v]), workspaces.alignment);
  }
  if (bytes == 0) return staging;
  const std::vector<Tenancy> all = tenancies(program, live, sharing, plan, workspaces);
  const auto idle_at = [&](int op) { return idle_from(live.ops[0][op].first, all, bytes, plan.buffers[0].bytes); };
  // What is idle from one op on is idle from any later one on.
  std::vector<int> ops(program.blocks[0].ops.size());
  std::iota(ops.begin(), ops.end(), 0);
  const auto idle = std::partition_point(ops.begin(), ops.end(), [&](int op) { return idle_at(op) < 0; });
  const auto first = std::find_if(idle, ops.end(), [&](int op) { return !runs_nothing(program.blocks[0].ops[op]); });
  if (first == ops.end()) return staging;
  staging.op = *first;
  for (Place& place : inputs)
    if (place.buffer == 0) place.offset += idle_at(*first);
  staging.inputs = std::move(inputs);
  return staging;
}

}  // namespace lethe
