#include "train/optnet/optnet_plan.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/error.h"
#include "memopt/analysis/check_plan.h"
#include "memopt/passes/sharing.h"
#include "train/optnet/optnet_records.h"

namespace lethe {
namespace {

/// Where optnet or Torch wants each var, as a name that vars in the same memory have in common. By VarId.
using Wishes = std::vector<std::string>;

/// Vars that were added later, by an optimizer, are nothing to Torch.
TorchVar what_is(const TorchProgram& torch, VarId var) {
  return var < std::ssize(torch.vars) ? torch.vars[static_cast<std::size_t>(var)] : TorchVar{};
}

/// The names of storages whose group is shared, by storage.
std::map<int, std::string> groups_of(const TorchProgram& torch, bool training) {
  const OptnetLives lives =
      training ? training_lives(torch.net, torch.storages) : inference_lives(torch.net, torch.storages);
  const OptnetGroups groups = group_by_last_use(lives.records);
  std::map<int, std::string> names;
  for (std::size_t r = 0; r < lives.records.size(); ++r)
    if (lives.records[r].kind == OptnetKind::Shared) names[lives.storage[r]] = message("group ", groups.group[r]);
  return names;
}

Wishes wishes_of(const TorchProgram& torch, const OptnetOptions* options) {
  std::map<int, std::string> groups;
  if (options) groups = groups_of(torch, options->training);
  Wishes wishes;
  for (std::size_t v = 0; v < torch.program.vars.size(); ++v) {
    const auto [as, storage] = what_is(torch, static_cast<VarId>(v));
    std::string wish = message("var ", v);
    if (as == TorchHolds::Buffer && options && options->reuse_buffers &&
        torch.buffers[static_cast<std::size_t>(storage)].shareable)
      wish = message("field ", torch.buffers[static_cast<std::size_t>(storage)].field);
    else if (as == TorchHolds::Buffer)
      wish = message("buffer ", storage);
    else if (storage >= 0)
      wish = groups.count(storage) ? groups[storage] : message("storage ", storage);
    wishes.push_back(std::move(wish));
  }
  return wishes;
}

/// In-place work is what Torch's modules do, no more: both vars are in one of its storages.
bool same_storage(const TorchVar& a, const TorchVar& b) {
  return a.storage >= 0 && a.as == b.as && a.storage == b.storage;
}

/// Vars that an op reads or writes.
std::vector<bool> touched_vars(const Program& program) {
  std::vector<bool> touched(program.vars.size(), false);
  for (const Op& op : program.blocks[0].ops)
    for (const std::vector<VarId>* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        if (v != kNone) touched[v] = true;
  return touched;
}

/// Of inputs, only those that an op reads are fed.
std::vector<Pin> pins_of(const TorchProgram& torch, const std::vector<bool>& touched) {
  std::vector<Pin> pins = collect_pins(torch.program, {.fetched = torch.fetched});
  for (std::size_t v = 0; v < pins.size(); ++v)
    if (pins[v] == Pin::Fed && !touched[v]) pins[v] = Pin::None;
  return pins;
}

/// Buffers by wish: storages that wish for the same one get it unless another lives there at the time.
class GroupBuffers {
 public:
  int take(const std::string& wish, const Storage& storage) {
    std::vector<int>& there = by_wish_[wish];
    for (const int b : there)
      if (std::none_of(lives_[b].begin(), lives_[b].end(), [&](Life life) { return overlap(life, storage.life); })) {
        lives_[b].push_back(storage.life);
        return b;
      }
    if (!there.empty()) kept_apart_ += storage.bytes;
    there.push_back(static_cast<int>(lives_.size()));
    lives_.push_back({storage.life});
    return there.back();
  }
  std::int64_t kept_apart() const { return kept_apart_; }

 private:
  static bool overlap(Life a, Life b) { return !a.is_empty() && !b.is_empty() && a.born < b.dies && b.born < a.dies; }
  std::map<std::string, std::vector<int>> by_wish_;
  std::vector<std::vector<Life>> lives_;  // by buffer
  std::int64_t kept_apart_ = 0;
};

OptnetPlan plan_for(const TorchProgram& torch, const OptnetOptions* options, const Workspaces& workspaces) {
  const Liveness live = liveness(torch.program);
  const std::vector<bool> touched = touched_vars(torch.program);
  const std::vector<Pin> pins = pins_of(torch, touched);
  Log log;
  const Sharing sharing = share_in_place(torch.program, live, pins, log, [&](VarId input, VarId output) {
    return same_storage(what_is(torch, input), what_is(torch, output));
  });
  const Wishes wishes = wishes_of(torch, options);
  GroupBuffers buffers;
  std::vector<Place> of_storage;
  for (const Storage& storage : sharing.storages) {
    const bool has_memory = touched[storage.root] || what_is(torch, storage.root).as != TorchHolds::Nothing;
    const bool in_buffer = has_memory && storage.pin != Pin::Persistable;
    of_storage.push_back({.buffer = in_buffer ? buffers.take(wishes[storage.root], storage) : -1});
  }
  OptnetPlan made{.plan = plan_buffers(torch.program, places_of(sharing, of_storage), workspaces),
                  .as = {},
                  .kept_apart = buffers.kept_apart()};
  for (const int storage : sharing.of)
    made.plan.kept.push_back(sharing.storages[static_cast<std::size_t>(storage)].pin != Pin::None);
  check_plan(torch.program, {.fetched = torch.fetched}, made.plan, workspaces);
  made.as.resize(made.plan.buffers.size(), TorchHolds::Nothing);
  for (std::size_t v = 0; v < made.plan.vars.size(); ++v)
    if (const TorchHolds as = what_is(torch, static_cast<VarId>(v)).as;
        made.plan.vars[v].buffer >= 0 && as != TorchHolds::Nothing)
      made.as[static_cast<std::size_t>(made.plan.vars[v].buffer)] = as;
  return made;
}

}  // namespace

OptnetPlan plan_as_defined(const TorchProgram& torch, const Workspaces& workspaces) {
  return plan_for(torch, nullptr, workspaces);
}

OptnetPlan plan_optnet(const TorchProgram& torch, const OptnetOptions& options, const Workspaces& workspaces) {
  return plan_for(torch, &options, workspaces);
}

}  // namespace lethe
