#include "memopt/passes/early_update.h"

#include <algorithm>
#include <numeric>

#include "framework/language/views.h"

namespace lethe {
namespace {

/// The positions of the last ops so far that wrote and that touched what each var shows; -1: none.
class LastUse {
 public:
  explicit LastUse(const Program& program)
      : shown_(view_root(program)), wrote_(shown_.size(), -1), touched_(shown_.size(), -1) {}

  /// After which position an op may stand at the earliest.
  int dependency(const Op& op) const {
    int latest = -1;
    for (const VarId v : op.in)
      if (v != kNone) latest = std::max(latest, wrote_[shown_[v]]);
    for (const VarId v : op.out) latest = std::max(latest, touched_[shown_[v]]);
    return latest;
  }

  void note(const Op& op, int position) {
    for (const VarId v : op.in)
      if (v != kNone) touched_[shown_[v]] = std::max(touched_[shown_[v]], position);
    for (const VarId v : op.out) wrote_[shown_[v]] = touched_[shown_[v]] = std::max(touched_[shown_[v]], position);
  }

 private:
  std::vector<VarId> shown_;
  std::vector<int> wrote_, touched_;
};

/// Moves the ops of block 0 for which `moves` holds, but for those that wait, up to right after the last op that they
/// depend on.
template <class Moves>
Program moved_up(Program program, const Moves& moves) {
  std::vector<Op>& ops = program.blocks[0].ops;
  LastUse last(program);
  int first = -1;                      // of role Backward: none of these goes before it
  std::vector<int> after(ops.size());  // the position that an op stands at or right after
  for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
    if (first < 0 && ops[i].role == Role::Backward) first = i;
    after[i] = moves(ops[i]) && !op_def(ops[i].type).waits
                   ? std::max(last.dependency(ops[i]), ops[i].role == Role::Backward ? first : 0)
                   : i;
    last.note(ops[i], after[i]);
  }
  std::vector<int> order(ops.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return after[a] < after[b]; });
  std::vector<Op> moved;
  moved.reserve(ops.size());
  for (const int i : order) moved.push_back(std::move(ops[i]));
  ops = std::move(moved);
  return program;
}

/// An update that reads nothing but what lives from step to step frees no memory, so it stays among its like: a GPU
/// does averages of weights in one launch.
bool gains_early(const Program& program, const Op& op) {
  const auto stays = [&](VarId v) { return v == kNone || is_persistable(program.vars[v].kind); };
  return op.role == Role::Optimize && !(op_def(op.type).updates && std::ranges::all_of(op.in, stays));
}

}  // namespace

Program update_early(Program program) {
  return moved_up(program, [&](const Op& op) { return gains_early(program, op); });
}

Program gradients_early(Program program) {
  std::vector<bool> leads_on(program.vars.size());  // by VarId: another gradient is made of it
  for (const Op& op : program.blocks[0].ops)
    if (op.role == Role::Backward)
      for (const VarId v : op.in)
        if (v != kNone) leads_on[v] = true;
  return moved_up(program, [&](const Op& op) {
    return gains_early(program, op) ||
           (op.role == Role::Backward && op.blocks.empty() &&
            std::none_of(op.out.begin(), op.out.end(), [&](VarId v) { return leads_on[v]; }));
  });
}

}  // namespace lethe
