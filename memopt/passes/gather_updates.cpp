#include "memopt/passes/gather_updates.h"

#include <algorithm>
#include <map>

#include "framework/language/footprint.h"
#include "framework/language/op_def.h"
#include "framework/language/views.h"
#include "memopt/passes/arena.h"

namespace lethe {
namespace {

class Gatherer {
 public:
  Gatherer(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
           const GroupsWith& groups_with)
      : program_(program),
        live_(live),
        sharing_(sharing),
        workspaces_(workspaces),
        storage_(view_root(program)),
        groups_with_(groups_with),
        alive_(bytes_alive(live, sharing, workspaces)),
        most_(*std::max_element(alive_.begin(), alive_.end())) {}

  std::vector<Op> run() {
    const std::vector<Op>& ops = program_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const OpTicks steps = live_.ops[0][i];
      release_if([&](const Group& group) { return group.footprint.conflicts_with(ops[i]); });
      if (is_too_much(steps)) release_if([](const Group&) { return true; });
      if (is_small_update(ops[i])) wait(ops[i], workspaces_.bytes[0][i]);
      order_.push_back(is_small_update(ops[i]) ? nullptr : &ops[i]);
    }
    release_if([](const Group&) { return true; });
    std::vector<Op> moved;
    for (const Op* op : order_)
      if (op) moved.push_back(*op);
    return moved;
  }

 private:
  /// Updates that wait, all grouped with the first, and what that costs.
  struct Group {
    std::vector<const Op*> ops;
    std::size_t place;  // in order_: where the first was
    Footprint footprint;
    std::int64_t workspace = 0;               // bytes: the largest of them
    std::int64_t kept = 0;                    // bytes that they read and nothing else does any more
    std::map<Tick, std::int64_t> later = {};  // bytes that will be kept, by when they would die
  };

  bool is_small_update(const Op& op) const {
    return op.role == Role::Optimize && op_def(op.type).updates && bytes_of(program_.vars[op.out[0]]) <= kSmallUpdate;
  }

  /// Whether what waiting updates keep is too much beside what lives in these steps.
  bool is_too_much(OpTicks steps) {
    std::int64_t waits = 0, workspace = 0;
    for (Group& group : groups_) {
      auto dead = group.later.begin();
      for (; dead != group.later.end() && dead->first <= steps.last; ++dead) group.kept += dead->second;
      group.later.erase(group.later.begin(), dead);
      waits += group.kept;
      workspace = std::max(workspace, group.workspace);
    }
    if (waits + workspace == 0) return false;
    const auto most_here = std::max_element(alive_.begin() + steps.first, alive_.begin() + steps.last + 1);
    return *most_here + waits + workspace > most_;
  }

  void wait(const Op& op, std::int64_t workspace) {
    auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return groups_with_(*g.ops.front(), op); });
    if (group == groups_.end())
      group = groups_.insert(group, {.ops = {}, .place = order_.size(), .footprint = Footprint(storage_)});
    group->ops.push_back(&op);
    group->footprint.add(op);
    group->workspace = std::max(group->workspace, round_up(workspace, workspaces_.alignment));
    for (const VarId v : op.in) {
      if (v == kNone) continue;
      const Storage& s = sharing_.storages[sharing_.of[v]];
      if (s.pin == Pin::None) group->later[s.life.dies] += round_up(s.bytes, workspaces_.alignment);
    }
  }

  template <class Which>
  void release_if(const Which& which) {
    for (auto group = groups_.begin(); group != groups_.end();) {
      if (!which(*group)) {
        ++group;
        continue;
      }
      if (group->ops.size() == 1)  // then it need not have waited
        order_[group->place] = group->ops.front();
      else
        order_.insert(order_.end(), group->ops.begin(), group->ops.end());
      group = groups_.erase(group);
    }
  }

  const Program& program_;
  const Liveness& live_;
  const Sharing& sharing_;
  const Workspaces& workspaces_;
  const std::vector<VarId> storage_;
  const GroupsWith& groups_with_;
  const std::vector<std::int64_t> alive_;  // by step
  const std::int64_t most_;
  std::vector<Group> groups_;
  std::vector<const Op*> order_;  // null: waits, or stands later
};

}  // namespace

Program gather_updates(Program program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                       const GroupsWith& groups_with) {
  if (program.blocks[0].ops.empty()) return program;
  program.blocks[0].ops = Gatherer(program, live, sharing, workspaces, groups_with).run();
  return program;
}

}  // namespace lethe
