#include "memopt/gather_updates.h"

#include <algorithm>

#include "framework/op_def.h"
#include "memopt/arena.h"

namespace lethe {
namespace {

class Gatherer {
 public:
  Gatherer(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
           const Joins& joins)
      : program_(program),
        live_(live),
        sharing_(sharing),
        workspaces_(workspaces),
        storage_(storage_of(program)),
        joins_(joins),
        alive_(bytes_alive(live, sharing, workspaces)),
        most_(*std::max_element(alive_.begin(), alive_.end())) {}

  std::vector<Op> run() {
    const std::vector<Op>& ops = program_.blocks[0].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      release_if([&](const Group& group) { return depends(ops[i], group); });
      if (is_too_much(live_.ops[0][i])) release_if([](const Group&) { return true; });
      if (is_small_update(ops[i])) wait({&ops[i], workspaces_.bytes[0][i], order_.size()});
      order_.push_back(is_small_update(ops[i]) ? nullptr : &ops[i]);
    }
    release_if([](const Group&) { return true; });
    std::vector<Op> moved;
    for (const Op* op : order_)
      if (op) moved.push_back(*op);
    return moved;
  }

 private:
  struct Waiting {
    const Op* op;
    std::int64_t workspace;  // bytes
    std::size_t place;       // in order_: where it was
  };
  /// All joined by the first.
  using Group = std::vector<Waiting>;

  bool depends(const Op& op, const Group& group) const {
    return std::any_of(group.begin(), group.end(),
                       [&](const Waiting& w) { return must_keep_order(*w.op, op, storage_); });
  }

  bool is_small_update(const Op& op) const {
    return op.role == Role::Optimize && op_def(op.type).updates && bytes_of(program_.vars[op.out[0]]) <= kSmallUpdate;
  }

  /// Whether what waiting updates read, and nothing else does any more, is too much beside what lives in these steps.
  bool is_too_much(OpSteps steps) const {
    std::int64_t waits = 0, workspace = 0;
    for (const Group& group : groups_)
      for (const Waiting& w : group) {
        workspace = std::max(workspace, round_up(w.workspace, workspaces_.alignment));
        for (const VarId v : w.op->in) {
          if (v == kNone) continue;
          const Storage& s = sharing_.storages[sharing_.of[v]];
          if (s.pin == Pin::None && s.life.dies <= steps.last) waits += round_up(s.bytes, workspaces_.alignment);
        }
      }
    if (waits + workspace == 0) return false;
    const auto most_here = std::max_element(alive_.begin() + steps.first, alive_.begin() + steps.last + 1);
    return *most_here + waits + workspace > most_;
  }

  void wait(const Waiting& w) {
    const auto group =
        std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return joins_(*g.front().op, *w.op); });
    if (group != groups_.end())
      group->push_back(w);
    else
      groups_.push_back({w});
  }

  template <class Which>
  void release_if(const Which& which) {
    for (auto group = groups_.begin(); group != groups_.end();) {
      if (!which(*group)) {
        ++group;
        continue;
      }
      const bool alone = group->size() == 1;  // then it need not have waited
      if (alone) order_[group->front().place] = group->front().op;
      for (const Waiting& w : *group)
        if (!alone) order_.push_back(w.op);
      group = groups_.erase(group);
    }
  }

  const Program& program_;
  const Liveness& live_;
  const Sharing& sharing_;
  const Workspaces& workspaces_;
  const std::vector<VarId> storage_;
  const Joins& joins_;
  const std::vector<std::int64_t> alive_;  // by step
  const std::int64_t most_;
  std::vector<Group> groups_;
  std::vector<const Op*> order_;  // null: waits, or stands further behind
};

}  // namespace

Program gather_updates(Program program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                       const Joins& joins) {
  if (program.blocks[0].ops.empty()) return program;
  program.blocks[0].ops = Gatherer(program, live, sharing, workspaces, joins).run();
  return program;
}

}  // namespace lethe
