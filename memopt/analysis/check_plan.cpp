#include "memopt/analysis/check_plan.h"

#include <algorithm>
#include <map>

#include "framework/control_flow.h"
#include "framework/error.h"
#include "memopt/analysis/carry.h"

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
  Checker(const Program& program, const Liveness& live, const std::vector<Pin>& pins, const Sharing& sharing,
          const Plan& plan, std::int64_t alignment)
      : program_(program),
        live_(live),
        pins_(pins),
        sharing_(sharing),
        plan_(plan),
        alignment_(alignment),
        shown_(storage_of(program)),
        carriers_(carriers_of(program)) {}

  void run(const std::vector<Tenant>& workspaces) {
    find_values();
    check_values();
    check_bytes();
    std::vector<Tenant> tenants = workspaces;
    for (std::size_t v = 0; v < program_.vars.size(); ++v) check_var(static_cast<VarId>(v));
    add_storages(tenants);
    for (const Tenant& tenant : tenants) check_place(tenant);
    check_overlaps(std::move(tenants));
  }

 private:
  const std::string& name(VarId v) const { return program_.vars[v].name; }
  bool is_in_store(VarId v) const { return is_persistable(program_.vars[shown_[v]].kind); }

  /// A value is a var with its views. What is pinned in any of them lives to the end. Nothing of what the sharing says
  /// about lives and pins is believed.
  void find_values() {
    lives_.resize(program_.vars.size());
    pinned_.resize(program_.vars.size());
    for (std::size_t v = 0; v < shown_.size(); ++v) {
      lives_[shown_[v]] = joined(lives_[shown_[v]], live_.vars[v]);
      if (pins_[v] != Pin::None) pinned_[shown_[v]] = true;
    }
    const std::vector<Step> begins = loop_begins(program_, live_);
    for (std::size_t v = 0; v < shown_.size(); ++v)
      if (pinned_[v]) lives_[v] = joined(lives_[v], {begins[program_.vars[v].block], kForever});
    prolong_results(program_, live_, sharing_.of, lives_);
    becomes_.resize(program_.vars.size(), kNone);
    for (const CarriedBy& by : carriers_)
      if (by.op)
        for (const VarId result : results_for(program_, *by.op, by.index))
          if (sharing_.of[result] == sharing_.of[by.op->out[by.index]]) becomes_[shown_[result]] = by.op->out[by.index];
  }

  void check_bytes() const {
    std::int64_t bytes = 0;
    for (const PlannedBuffer& buffer : plan_.buffers) bytes += buffer.bytes;
    for (const Var& var : program_.vars)
      if (is_persistable(var.kind)) bytes += bytes_of(var);
    check(plan_.bytes.total() == bytes, "plan: says ", plan_.bytes.total(), " bytes, but takes ", bytes);
  }

  /// Each storage from the first birth to the last death of the values in it, as large as the largest.
  void add_storages(std::vector<Tenant>& tenants) const {
    std::vector<Tenant> storages(sharing_.storages.size());
    for (std::size_t v = 0; v < shown_.size(); ++v) {
      if (shown_[v] != static_cast<VarId>(v) || is_in_store(static_cast<VarId>(v)) || lives_[v].is_empty()) continue;
      Tenant& t = storages[static_cast<std::size_t>(sharing_.of[v])];
      if (t.name.empty()) t = {name(static_cast<VarId>(v)), plan_.vars[v], 0, {}};
      t.bytes = std::max(t.bytes, bytes_of(program_.vars[v]));
      t.life = joined(t.life, lives_[v]);
    }
    std::copy_if(storages.begin(), storages.end(), std::back_inserter(tenants),
                 [](const Tenant& t) { return !t.name.empty(); });
  }

  void check_var(VarId v) const {
    const Storage& storage = sharing_.storages[sharing_.of[v]];
    check(plan_.vars[v] == plan_.vars[storage.root], "plan: '", name(v), "' and '", name(storage.root),
          "' share their memory but lie in different places");
    check(!is_in_store(v) || plan_.vars[v].buffer < 0, "plan: '", name(v),
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
    check(t.place.offset % alignment_ == 0, "plan: '", t.name, "' lies at ", t.place.offset,
          ", which is not aligned to ", alignment_);
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

  /// The values that follow each other in each storage.
  void check_values() const {
    std::vector<std::vector<VarId>> values(sharing_.storages.size());
    for (std::size_t v = 0; v < shown_.size(); ++v)
      if (shown_[v] == static_cast<VarId>(v) && !lives_[v].is_empty())
        values[sharing_.of[v]].push_back(static_cast<VarId>(v));
    for (std::vector<VarId>& in : values) {
      std::stable_sort(in.begin(), in.end(), [&](VarId a, VarId b) { return lives_[a].born < lives_[b].born; });
      for (std::size_t i = 1; i < in.size(); ++i) check_follows(in[i - 1], in[i]);
    }
  }

  /// Whether `after` leads to what `before` becomes, in a block of the op that carries it, and `before` is no longer
  /// read there.
  bool becomes(VarId before, VarId after) const {
    const auto [op, index] = carriers_[before];
    if (!op) return false;
    for (const VarId result : results_for(program_, *op, index)) {
      const BlockId body = program_.vars[result].block;
      if (sharing_.of[result] != sharing_.of[before] || !is_inside(program_, program_.vars[after].block, body))
        continue;
      const LastRead last = last_read(program_, live_, body, [&](VarId v) { return shown_[v] == before; });
      const Step born = lives_[after].born;
      return last.step < born || (last.step == born && last.hands_over && shown_[last.output] == after);
    }
    return false;
  }

  /// Whether `value` is what `var` shows, or was made in its memory by an op that hands it on as `var`.
  bool is_value_of(VarId value, VarId var) const {
    while (value != kNone && value != shown_[var]) value = becomes_[value];
    return value != kNone;
  }

  /// Whether only one of the two is ever written in a step: they are of different blocks of a branch.
  bool exclude(VarId a, VarId b) const {
    const BlockId in_a = program_.vars[a].block, in_b = program_.vars[b].block;
    if (in_a == 0 || in_b == 0) return false;
    for (const Block& block : program_.blocks)
      for (const Op& op : block.ops)
        if (op.type == kIf && is_inside(program_, in_a, op.blocks[0]) && is_inside(program_, in_b, op.blocks[1]))
          return true;
    return false;
  }

  void check_follows(VarId before, VarId after) const {
    if (becomes(before, after) || exclude(before, after)) return;
    const Step born = lives_[after].born;
    check(!pinned_[before], "plan: '", name(after), "' is in the memory of '", name(before), "', which is pinned");
    check(lives_[before].dies <= born + 1, "plan: '", name(after), "' is written over '", name(before),
          "', which is needed later");
    if (lives_[before].dies <= born) return;
    const auto [block, index] = live_.at[born];
    const Op& op = program_.blocks[block].ops[index];
    const auto shows = [&](VarId v) { return v != kNone && is_value_of(before, v); };
    const std::vector<InPlace> pairs = inplace_pairs(program_, op);
    const bool hands_over = std::any_of(pairs.begin(), pairs.end(), [&](const InPlace& pair) {
      return pair.in < static_cast<int>(op.in.size()) && shows(op.in[pair.in]) && op.out[pair.out] == after;
    });
    const auto reads = std::count_if(op.in.begin(), op.in.end(), shows);
    check(reads == 1 && hands_over, "plan: '", op.type, "' cannot write '", name(after), "' in place of '",
          name(before), "'");
  }

  const Program& program_;
  const Liveness& live_;
  const std::vector<Pin>& pins_;
  const Sharing& sharing_;
  const Plan& plan_;
  const std::int64_t alignment_;
  const std::vector<VarId> shown_;         // by VarId: the value that it shows
  const std::vector<CarriedBy> carriers_;  // by VarId
  std::vector<Life> lives_;                // of values
  std::vector<bool> pinned_;               // values
  std::vector<VarId> becomes_;             // by VarId: what a result that is made in its memory is handed on as; kNone
};

}  // namespace

void check_plan(const Program& program, const Liveness& live, const std::vector<Pin>& pins, const Sharing& sharing,
                const Plan& plan, const Workspaces& workspaces) {
  std::vector<Tenant> tenants;
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < program.blocks[b].ops.size(); ++i) {
      const Op& op = program.blocks[b].ops[i];
      const OpSteps steps = live.ops[b][i];
      if (const std::int64_t bytes = workspaces.bytes[b][i]; bytes > 0)
        tenants.push_back({op.type, plan.workspaces[b][i], bytes, {steps.first, steps.last + 1}});
    }
  const Staging& staging = plan.staging;
  for (std::size_t v = 0; v < staging.inputs.size(); ++v)
    if (const Place place = staging.inputs[v]; place.buffer >= 0)
      tenants.push_back({"next input", place, bytes_of(program.vars[v]), {live.ops[0][staging.op].first, kForever}});
  Checker(program, live, pins, sharing, plan, workspaces.alignment).run(tenants);
}

}  // namespace lethe
