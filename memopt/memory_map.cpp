#include "memopt/memory_map.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "framework/language/op_def.h"
#include "framework/language/views.h"
#include "framework/ranks/part_sums.h"
#include "memopt/analysis/carry.h"

namespace lethe {
namespace {

constexpr std::array<std::string_view, kCategories> kNames = {"inputs",       "params",           "frozen",
                                                              "param copies", "param grads",      "optimizer",
                                                              "activations",  "activation grads", "workspace"};

/// Of a temp that an op of `role` writes, gradients of parameters apart.
Category category_written_by(Role role) {
  return role == Role::Forward    ? Category::Activations
         : role == Role::Backward ? Category::ActivationGrads
                                  : Category::Optimizer;
}

/// The inputs that an op hands on as gradients of parameters: those of sums, views and copies in another dtype, and
/// what it adds to in place; kNone where that is absent.
std::vector<VarId> handed_on(const Op& op) {
  const OpDef& def = op_def(op.type);
  if (op.type == kSum || op.type == kAccumulate || op.type == kCast || def.is_view()) return op.in;
  std::vector<VarId> in;
  for (const InPlace& pair : def.inplace)
    if (pair.out == 0 && pair.in < static_cast<int>(op.in.size()) && def.inputs[pair.in].back() == '?')
      in.push_back(op.in[pair.in]);
  return in;
}

void find_frozen(const Program& program, std::vector<Category>& categories) {
  std::vector<bool> updated(program.vars.size());
  bool any = false;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      for (const VarId v : op.out)
        if (op_def(op.type).updates && program.vars[v].kind == Kind::Param) any = updated[v] = true;
  for (std::size_t v = 0; any && v < categories.size(); ++v)
    if (program.vars[v].kind == Kind::Param && !updated[v]) categories[v] = Category::Frozen;
}

/// Of a copy, whoever makes it again.
Category category_of_copy(Kind of) { return of == Kind::Param ? Category::ParamCopies : Category::Activations; }

void add_values(const Planned& planned, std::vector<Resident>& all) {
  const Program& program = planned.program;
  const std::vector<Category> categories = categories_of(program);
  const std::vector<VarId> shown = view_root(program);
  std::vector<Life> lives(program.vars.size());
  for (std::size_t v = 0; v < shown.size(); ++v) lives[shown[v]] = hull(lives[shown[v]], planned.live.vars[v]);
  prolong_results(program, planned.live, planned.sharing.of, lives);
  for (std::size_t v = 0; v < shown.size(); ++v) {
    if (shown[v] != static_cast<VarId>(v) || lives[v].is_empty()) continue;
    const Storage& storage = planned.sharing.storages[planned.sharing.of[v]];
    if (storage.pin != Pin::None) lives[v].dies = storage.life.dies;
    all.push_back({.var = static_cast<VarId>(v),
                   .category = categories[v],
                   .bytes = bytes_of(program.vars[v]),
                   .life = {lives[v].born, std::min(lives[v].dies, planned.live.ticks())},
                   .place = planned.plan.vars[v],
                   .storage = planned.sharing.of[v]});
  }
}

void add_workspaces(const Planned& planned, std::vector<Resident>& all) {
  for (std::size_t b = 0; b < planned.workspaces.bytes.size(); ++b)
    for (std::size_t i = 0; i < planned.workspaces.bytes[b].size(); ++i) {
      const std::int64_t bytes = planned.workspaces.bytes[b][i];
      const OpTicks steps = planned.live.ops[b][i];
      if (bytes > 0)
        all.push_back({.op = steps,
                       .category = Category::Workspace,
                       .bytes = bytes,
                       .life = {steps.first, steps.last + 1},
                       .place = planned.plan.workspaces[b][i]});
    }
}

/// A value ends where the next is written over it.
void hand_over(std::vector<Resident>& all, std::size_t storages) {
  std::vector<Resident*> last(storages);
  for (Resident& r : all) {
    r.until = r.life.dies;
    if (r.storage < 0) continue;
    Resident*& before = last[static_cast<std::size_t>(r.storage)];
    if (before) before->until = std::min(before->until, r.life.born);
    before = &r;
  }
}

}  // namespace

std::string_view name_of(Category category) { return kNames[static_cast<std::size_t>(category)]; }

std::vector<Category> categories_of(const Program& program) {
  std::vector<Category> categories(program.vars.size(), Category::Activations);
  std::vector<bool> is_gradient(program.vars.size());
  std::set<std::string_view> digests;  // ops that a gradient is read by
  for (const Op& op : program.blocks[0].ops)
    if (const AllGradients* const all = op_def(op.type).all_gradients) digests.insert(all->digest);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Kind kind = program.vars[v].kind;
    if (kind == Kind::Input) categories[v] = Category::Inputs;
    if (is_persistable(kind)) categories[v] = Category::Params;
  }
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      for (const VarId v : op.out)
        if (program.vars[v].kind == Kind::Temp) categories[v] = category_written_by(op.role);
      if (copies_kept(program, op)) categories[op.out[0]] = category_of_copy(program.vars[op.in[0]].kind);
      if (const VarId gradient = update_gradient(op); gradient != kNone) is_gradient[gradient] = true;
      if (digests.contains(op.type)) is_gradient[op.in[0]] = true;
      const bool updates_param = op_def(op.type).updates && program.vars[op.out[0]].kind == Kind::Param;
      for (const VarId v : op.in)
        if (updates_param && v != kNone && program.vars[v].kind == Kind::State) categories[v] = Category::Optimizer;
    }
  for (const Block& block : program.blocks)
    for (auto op = block.ops.rbegin(); op != block.ops.rend(); ++op)
      if (!op->out.empty() && is_gradient[op->out[0]])
        for (const VarId v : handed_on(*op))
          if (v != kNone) is_gradient[v] = true;
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (is_gradient[v] && program.vars[v].kind == Kind::Temp) categories[v] = Category::ParamGrads;
  find_frozen(program, categories);
  return categories;
}

std::vector<Resident> residents(const Planned& planned) {
  std::vector<Resident> all;
  add_values(planned, all);
  add_workspaces(planned, all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Resident& a, const Resident& b) { return a.life.born < b.life.born; });
  hand_over(all, planned.sharing.storages.size());
  return all;
}

std::int64_t Peak::total() const { return std::accumulate(bytes.begin(), bytes.end(), idle); }

Peak peak_of(const Planned& planned) {
  const std::vector<Resident> all = residents(planned);
  const Tick steps = planned.live.ticks();
  std::vector<std::int64_t> change(static_cast<std::size_t>(steps) + 1);
  for (const Resident& r : all) change[r.life.born] += r.bytes, change[r.until] -= r.bytes;
  Peak peak;
  std::int64_t held = 0, most = -1;
  for (Tick s = 0; s < steps; ++s)
    if (held += change[s]; held > most) most = held, peak.step = s;
  std::copy_if(all.begin(), all.end(), std::back_inserter(peak.living),
               [&peak](const Resident& r) { return r.life.born <= peak.step && peak.step < r.until; });
  std::stable_sort(peak.living.begin(), peak.living.end(),
                   [](const Resident& a, const Resident& b) { return a.bytes > b.bytes; });
  for (const Resident& r : peak.living) peak.bytes[static_cast<std::size_t>(r.category)] += r.bytes;
  peak.idle = planned.plan.bytes.total() - std::accumulate(peak.bytes.begin(), peak.bytes.end(), std::int64_t{0});
  return peak;
}

BytesBy bytes_of_all_vars(const Program& program, const Workspaces& workspaces) {
  BytesBy bytes = {};
  const std::vector<Category> categories = categories_of(program);
  const std::vector<VarId> shown = view_root(program);
  for (std::size_t v = 0; v < shown.size(); ++v)
    if (shown[v] == static_cast<VarId>(v)) bytes[static_cast<std::size_t>(categories[v])] += bytes_of(program.vars[v]);
  std::int64_t& workspace = bytes[static_cast<std::size_t>(Category::Workspace)];
  for (const std::vector<std::int64_t>& of_op : workspaces.bytes)
    for (const std::int64_t needed : of_op) workspace = std::max(workspace, needed);
  return bytes;
}

}  // namespace lethe
