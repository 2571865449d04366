#include "memopt/recompute/repeated.h"

#include "framework/language/clone.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

/// Copies ops of a program into another order, with vars of their own where they run once more.
class Rewriting {
 public:
  Rewriting(const Program& program, const Tape& tape)
      : tape_(tape),
        from_(program.blocks[0].ops),
        made_(program),
        now_(program.vars.size()),
        copies_(now_.size()),
        copy_of_root_(now_.size()),
        shown_by_(now_.size(), -1) {
    for (std::size_t v = 0; v < now_.size(); ++v) now_[v] = static_cast<VarId>(v);
    for (std::size_t i = 0; i < from_.size(); ++i)
      if (tape.ops[i].is_view)
        for (const Op& op = from_[i]; const VarId v : op.out) shown_by_[v] = static_cast<int>(i);
    made_.blocks[0].ops.clear();
  }

  Program run(const std::vector<Step>& steps) && {
    for (const Step& step : steps)
      if (step.repeated)
        repeat(step);
      else
        move(step.op);
    return std::move(made_);
  }

 private:
  void move(int index) {
    Op op = from_[index];
    for (VarId& v : op.in)
      if (v != kNone) v = current(v);
    if (tape_.ops[index].is_view && op_def(op.type).view == ViewOf::Whole)
      copies_[op.out[0]] = copy_of_root_[tape_.root[op.out[0]]];
    made_.blocks[0].ops.push_back(std::move(op));
  }

  void repeat(const Step& step) {
    const Op& forward = from_[step.op];
    append(step.again ? op_def(forward.type).again(forward) : forward);
    for (const VarId v : call_of(tape_, step).out) ++copy_of_root_[v];
    const Op& last = made_.blocks[0].ops.back();
    for (std::size_t i = 0; i < last.out.size(); ++i) {
      now_[forward.out[i]] = last.out[i];
      copies_[forward.out[i]] = copy_of_root_[tape_.root[forward.out[i]]];
    }
  }

  void append(Op op) {
    op.role = Role::Backward;
    for (VarId& v : op.in)
      if (v != kNone) v = current(v);
    for (VarId& v : op.out) v = clone_var(made_, v, 0);
    made_.blocks[0].ops.push_back(std::move(op));
  }

  /// The var that has its value now; makes the view of a copy where there is none yet.
  VarId current(VarId v) {
    const int copy = copy_of_root_[tape_.root[v]];
    if (copies_[v] != copy) {
      append(from_[shown_by_[v]]);
      now_[v] = made_.blocks[0].ops.back().out[0];
      copies_[v] = copy;
    }
    return now_[v];
  }

  const Tape& tape_;
  const std::vector<Op>& from_;
  Program made_;
  std::vector<VarId> now_;         // by VarId of `program`: the var that has its value
  std::vector<int> copies_;        // by VarId: of which copy of its root that is; 0: of the first
  std::vector<int> copy_of_root_;  // by VarId: how often it was made again
  std::vector<int> shown_by_;      // by VarId: the op that makes it a view
};

}  // namespace

Program repeated(const Program& program, const Tape& tape, const std::vector<Step>& steps) {
  return Rewriting(program, tape).run(steps);
}

}  // namespace lethe
