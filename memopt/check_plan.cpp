#include "memopt/check_plan.h"

#include <algorithm>
#include <map>

#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

/// Something that is in a buffer for some steps.
struct Tenant {
  std::string_view name;
  Place place;
  std::int64_t bytes = 0;
  Life life = {};
};

class Checker {
 public:
  Checker(const Program& program, const Liveness& live, const Sharing& sharing, const Plan& plan,
          const DeviceInfo& device)
      : program_(program), live_(live), sharing_(sharing), plan_(plan), device_(device) {}

  void run(const std::vector<Tenant>& workspaces) {
    check_values();
    std::vector<Tenant> tenants = workspaces;
    for (std::size_t v = 0; v < program_.vars.size(); ++v) check_var(static_cast<VarId>(v));
    for (const Storage& s : sharing_.storages)
      if (s.pin != Pin::Persistable && !s.life.is_empty())
        tenants.push_back({program_.vars[s.root].name, plan_.vars[s.root], s.bytes, s.life});
    for (const Tenant& tenant : tenants) check_place(tenant);
    check_overlaps(std::move(tenants));
  }

 private:
  const std::string& name(VarId v) const { return program_.vars[v].name; }

  void check_var(VarId v) const {
    const Storage& storage = sharing_.storages[sharing_.of[v]];
    check(plan_.vars[v] == plan_.vars[storage.root], "plan: '", name(v), "' and '", name(storage.root),
          "' share their memory but lie in different places");
    check(storage.pin != Pin::Persistable || plan_.vars[v].buffer < 0, "plan: '", name(v),
          "' lives in the store, but has a place in a buffer");
    check(bytes_of(program_.vars[v]) <= storage.bytes, "plan: '", name(v), "' is larger than the memory of '",
          name(storage.root), "' that it is in");
  }

  void check_place(const Tenant& t) const {
    check(t.place.buffer >= 0 && t.place.buffer < static_cast<int>(plan_.buffers.size()), "plan: '", t.name,
          "' has no memory");
    const std::int64_t bytes = plan_.buffers[t.place.buffer].bytes;
    check(t.place.offset >= 0 && t.place.offset + t.bytes <= bytes, "plan: '", t.name, "' ends at ",
          t.place.offset + t.bytes, " of a buffer of ", bytes, " bytes");
    check(t.place.offset % device_.alignment == 0, "plan: '", t.name, "' lies at ", t.place.offset,
          ", which is not aligned to ", device_.alignment);
  }

  /// Sweeps over the steps; what lives lies side by side in a map by address, so only neighbours are compared.
  void check_overlaps(std::vector<Tenant> tenants) const {
    std::vector<const Tenant*> births, deaths;
    for (const Tenant& t : tenants) births.push_back(&t);
    deaths = births;
    std::stable_sort(births.begin(), births.end(), [](auto* a, auto* b) { return a->life.born < b->life.born; });
    std::stable_sort(deaths.begin(), deaths.end(), [](auto* a, auto* b) { return a->life.dies < b->life.dies; });
    std::map<std::pair<int, std::int64_t>, const Tenant*> living;  // by buffer and offset
    auto dead = deaths.begin();
    for (const Tenant* t : births) {
      for (; (*dead)->life.dies <= t->life.born; ++dead) living.erase({(*dead)->place.buffer, (*dead)->place.offset});
      const auto next = living.lower_bound({t->place.buffer, t->place.offset});
      if (next != living.end()) check_apart(*t, *next->second);
      if (next != living.begin()) check_apart(*std::prev(next)->second, *t);
      living.emplace(std::pair{t->place.buffer, t->place.offset}, t);
    }
  }

  static void check_apart(const Tenant& low, const Tenant& high) {
    check(low.place.buffer != high.place.buffer || low.place.offset + low.bytes <= high.place.offset, "plan: '",
          low.name, "' lies over '", high.name, "' while both live");
  }

  /// The values that follow each other in each storage: views count with what they show.
  void check_values() const {
    const std::vector<VarId> shown = storage_of(program_);
    std::vector<Life> lives(program_.vars.size());
    for (std::size_t v = 0; v < shown.size(); ++v) lives[shown[v]] = joined(lives[shown[v]], live_.vars[v]);
    std::vector<std::vector<VarId>> values(sharing_.storages.size());
    for (std::size_t v = 0; v < shown.size(); ++v)
      if (shown[v] == static_cast<VarId>(v) && !lives[v].is_empty())
        values[sharing_.of[v]].push_back(static_cast<VarId>(v));
    for (std::vector<VarId>& in : values) {
      std::stable_sort(in.begin(), in.end(), [&](VarId a, VarId b) { return lives[a].born < lives[b].born; });
      for (std::size_t i = 1; i < in.size(); ++i) check_follows(in[i - 1], in[i], lives, shown);
    }
  }

  void check_follows(VarId before, VarId after, const std::vector<Life>& lives, const std::vector<VarId>& shown) const {
    const Step born = lives[after].born;
    check(sharing_.storages[sharing_.of[after]].pin == Pin::None, "plan: '", name(after), "' is in the memory of '",
          name(before), "', which is pinned");
    check(lives[before].dies <= born + 1, "plan: '", name(after), "' is written over '", name(before),
          "', which is needed later");
    if (lives[before].dies <= born) return;
    const auto [block, index] = live_.at[born];
    const Op& op = program_.blocks[block].ops[index];
    const auto hands_over = [&](const InPlace& pair) {
      return pair.in < static_cast<int>(op.in.size()) && op.in[pair.in] != kNone && shown[op.in[pair.in]] == before &&
             op.out[pair.out] == after;
    };
    const auto& pairs = op_def(op.type).inplace;
    const auto reads =
        std::count_if(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && shown[v] == before; });
    check(reads == 1 && std::any_of(pairs.begin(), pairs.end(), hands_over), "plan: '", op.type, "' cannot write '",
          name(after), "' in place of '", name(before), "'");
  }

  const Program& program_;
  const Liveness& live_;
  const Sharing& sharing_;
  const Plan& plan_;
  const DeviceInfo& device_;
};

}  // namespace

void check_plan(const Program& program, const Liveness& live, const Sharing& sharing, const Plan& plan,
                Prepared& prepared) {
  std::vector<Tenant> workspaces;
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < program.blocks[b].ops.size(); ++i) {
      const Op& op = program.blocks[b].ops[i];
      const OpSteps steps = live.ops[b][i];
      if (const std::int64_t bytes = prepared.workspace_bytes(program, op); bytes > 0)
        workspaces.push_back({op.type, plan.workspaces[b][i], bytes, {steps.first, steps.last + 1}});
    }
  Checker(program, live, sharing, plan, prepared.device()).run(workspaces);
}

}  // namespace lethe
