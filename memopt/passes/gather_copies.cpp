#include "memopt/passes/gather_copies.h"

#include <algorithm>

#include "framework/language/footprint.h"
#include "framework/language/op_def.h"
#include "framework/language/views.h"
#include "memopt/passes/arena.h"

namespace lethe {
namespace {

class CopyGatherer {
 public:
  CopyGatherer(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
               const GroupsWith& groups_with)
      : program_(program),
        ops_(program.blocks[0].ops),
        live_(live),
        sharing_(sharing),
        alignment_(workspaces.alignment),
        storage_(view_root(program)),
        groups_with_(groups_with),
        alive_(bytes_alive(live, sharing, workspaces)),
        most_(*std::max_element(alive_.begin(), alive_.end())),
        joins_(ops_.size(), kAlone) {}

  std::vector<Op> run() {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!is_small_copy(ops_[i]) || !join(i))
        for (Group& group : groups_) group.passed.add(ops_[i]);
    }
    std::vector<std::vector<std::size_t>> after(ops_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i)
      if (joins_[i] != kAlone) after[joins_[i]].push_back(i);
    std::vector<Op> moved;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (joins_[i] != kAlone) continue;
      moved.push_back(ops_[i]);
      for (const std::size_t copy : after[i]) moved.push_back(ops_[copy]);
    }
    return moved;
  }

 private:
  static constexpr std::size_t kAlone = SIZE_MAX;

  /// Copies that stand after the first of them, from where others may still come.
  struct Group {
    std::size_t first;
    Footprint passed;  // what whoever joins passes
  };

  bool is_small_copy(const Op& op) const {
    return copies_kept(program_, op) && bytes_of(program_.vars[op.out[0]]) <= kSmallCopy;
  }

  /// Whether copy i joins a group; else it begins one, in place of that which it could not join.
  bool join(std::size_t i) {
    const auto group = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const Group& g) { return groups_with_(ops_[g.first], ops_[i]); });
    if (group != groups_.end() && !group->passed.conflicts_with(ops_[i]) && has_room(group->first, i)) {
      joins_[i] = group->first;
      return true;
    }
    if (group != groups_.end()) groups_.erase(group);
    groups_.push_back({i, Footprint(storage_)});
    return false;
  }

  /// Whether copy i may live from op `first` on: notes it then.
  bool has_room(std::size_t first, std::size_t i) {
    const Storage& copy = sharing_.storages[sharing_.of[ops_[i].out[0]]];
    const std::int64_t bytes = round_up(copy.bytes, alignment_);
    const auto begin = alive_.begin() + live_.ops[0][first].first, end = alive_.begin() + live_.ops[0][i].first;
    if (*std::max_element(begin, end) + bytes > most_) return false;
    std::for_each(begin, end, [&](std::int64_t& alive) { alive += bytes; });
    return true;
  }

  const Program& program_;
  const std::vector<Op>& ops_;
  const Liveness& live_;
  const Sharing& sharing_;
  const std::int64_t alignment_;
  const std::vector<VarId> storage_;
  const GroupsWith& groups_with_;
  std::vector<std::int64_t> alive_;  // by step
  const std::int64_t most_;
  std::vector<std::size_t> joins_;  // by op: after which it goes
  std::vector<Group> groups_;
};

}  // namespace

Program gather_copies(Program program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                      const GroupsWith& groups_with) {
  if (program.blocks[0].ops.empty()) return program;
  program.blocks[0].ops = CopyGatherer(program, live, sharing, workspaces, groups_with).run();
  return program;
}

}  // namespace lethe
