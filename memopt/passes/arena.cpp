#include "memopt/passes/arena.h"

#include <algorithm>
#include <numeric>

#include "framework/language/kernel.h"
#include "framework/language/text.h"
#include "memopt/pack/pack.h"

namespace lethe {
namespace {

/// What is packed, and where each of its parts is found again.
struct Items {
  std::vector<PackItem> all;
  std::vector<int> of_storage;                 // -1: in the Store, or never used
  std::vector<std::vector<int>> of_workspace;  // by block and op; -1: none
};

Items collect(const Liveness& live, const Sharing& sharing, const Workspaces& workspaces) {
  Items items;
  const auto add = [&](Tick born, Tick dies, std::int64_t bytes) {
    items.all.push_back({.lower = born, .upper = std::min(dies, live.ticks()), .size = bytes});
    return static_cast<int>(items.all.size()) - 1;
  };
  for (const Storage& s : sharing.storages)
    items.of_storage.push_back(s.pin == Pin::Persistable || s.life.is_empty() ? -1
                                                                              : add(s.life.born, s.life.dies, s.bytes));
  for (std::size_t b = 0; b < workspaces.bytes.size(); ++b) {
    std::vector<int>& of_op = items.of_workspace.emplace_back();
    for (std::size_t i = 0; i < workspaces.bytes[b].size(); ++i) {
      const std::int64_t bytes = workspaces.bytes[b][i];
      of_op.push_back(bytes == 0 ? -1 : add(live.ops[b][i].first, live.ops[b][i].last + 1, bytes));
    }
  }
  return items;
}

std::string text_of_op_at(const Program& program, const Liveness& live, Tick step) {
  if (step >= live.ticks()) return "no op";
  const auto [block, index] = live.at[step];
  return text_of(program, program.blocks[block].ops[index]);
}

void count_bytes(const Program& program, std::int64_t arena, Bytes& bytes) {
  for (const Var& var : program.vars) {
    if (var.kind == Kind::Param) bytes.params += bytes_of(var);
    if (var.kind == Kind::State) bytes.states += bytes_of(var);
    if (var.kind == Kind::Input) bytes.inputs += bytes_of(var);
  }
  bytes.temps = arena - bytes.inputs;
}

}  // namespace

std::vector<std::int64_t> bytes_alive(const Liveness& live, const Sharing& sharing, const Workspaces& workspaces) {
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(live.ticks()) + 1);  // first what each step changes
  for (const PackItem& item : collect(live, sharing, workspaces).all) {
    const std::int64_t size = round_up(item.size, workspaces.alignment);
    bytes[static_cast<std::size_t>(item.lower)] += size;
    bytes[static_cast<std::size_t>(item.upper)] -= size;
  }
  std::partial_sum(bytes.begin(), bytes.end(), bytes.begin());
  bytes.pop_back();
  return bytes;
}

ArenaPlan plan_arena(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                     double seconds) {
  const Items items = collect(live, sharing, workspaces);
  const Packing packing = pack(items.all, {.seconds = seconds, .alignment = workspaces.alignment});
  ArenaPlan made;
  made.facts = {.bytes = packing.height,
                .lower_bound = packing.lower_bound,
                .bound_op = text_of_op_at(program, live, static_cast<Tick>(packing.bound_instant)),
                .certified = packing.certified};
  Plan& plan = made.plan;
  plan.buffers = {{.bytes = packing.height}};
  const auto place = [&](int item) {
    return item < 0 ? Place{} : Place{.buffer = 0, .offset = packing.offsets[static_cast<std::size_t>(item)]};
  };
  std::vector<Place> of_storage;
  std::transform(items.of_storage.begin(), items.of_storage.end(), std::back_inserter(of_storage), place);
  plan.vars = places_of(sharing, of_storage);
  for (const std::vector<int>& of_op : items.of_workspace) {
    std::vector<Place>& places = plan.workspaces.emplace_back();
    std::transform(of_op.begin(), of_op.end(), std::back_inserter(places), place);
  }
  count_bytes(program, packing.height, plan.bytes);
  return made;
}

}  // namespace lethe
