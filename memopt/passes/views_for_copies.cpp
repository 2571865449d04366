#include "memopt/passes/views_for_copies.h"

#include <algorithm>
#include <set>
#include <utility>

#include "framework/views.h"

namespace lethe {
namespace {

/// A block and the position of an op in it.
using At = std::pair<BlockId, std::size_t>;

class Copies {
 public:
  Copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment)
      : pins_(pins),
        alignment_(alignment),
        touched_(program.vars.size()),
        is_result_(program.vars.size()),
        shows_(program.vars.size(), kNone) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      for (const VarId v : program.blocks[b].results) is_result_[v] = true;
      for (std::size_t i = 0; i < program.blocks[b].ops.size(); ++i) {
        const Op& op = program.blocks[b].ops[i];
        for (const auto* vars : {&op.in, &op.out})
          for (const VarId v : *vars)
            if (v != kNone) touched_[v].emplace_back(static_cast<BlockId>(b), i);
        if (op_def(op.type).as_view) all_.emplace_back(static_cast<BlockId>(b), i);
        if (op_def(op.type).view == ViewOf::Whole) shows_[op.out[0]] = op.in[0];
      }
    }
  }

  /// In the order of the program.
  const std::vector<At>& all() const { return all_; }

  /// Makes the op there a view; false, and nothing is changed, if it cannot be one.
  bool replace(Program& program, At at) const {
    Op& op = program.blocks[at.first].ops[at.second];
    const OpDef& view = op_def(op_def(op.type).as_view);
    const bool joins = view.view == ViewOf::Parts;
    const std::vector<VarId>& parts = joins ? op.in : op.out;
    const VarId whole = joins ? op.out[0] : op.in[0];
    const std::vector<std::int64_t> pitches = pitches_of(program, op, parts, whole, joins);
    if (pitches.empty() || !may_show(program, at, whole) || (joins && !may_write(program, whole))) return false;
    std::set<VarId> moved;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (pitches[i] > 0 && !takes_rows_apart(program, at, parts[i])) return false;
      if (!may_show(program, at, parts[i]) || !may_write(program, parts[i])) return false;
      const VarId root = root_of(parts[i]);
      if (is_part(program, root) || !moved.insert(root).second) return false;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) program.vars[parts[i]].pitch = pitches[i];
    op.type = view.type;
    return true;
  }

 private:
  /// Of each part; none if one of them cannot lie in the whole.
  std::vector<std::int64_t> pitches_of(const Program& program, const Op& op, const std::vector<VarId>& parts,
                                       VarId whole, bool joins) const {
    const auto axis = static_cast<std::size_t>(op.attrs.integer("axis"));
    const Var& of = program.vars[whole];
    const std::int64_t step = strides_of(of.shape, of.pitch)[axis] * bytes_of(of.dtype);
    std::int64_t begin = joins ? 0 : op.attrs.integer("begin");
    std::vector<std::int64_t> pitches;
    for (const VarId part : parts) {
      const Shape& shape = program.vars[part].shape;
      const auto pitch = pitch_of_part(of, shape, axis);
      if (!pitch || (*pitch == 0 && (of.pitch > 0 || begin * step % alignment_ != 0))) return {};
      pitches.push_back(*pitch);
      begin += shape[axis];
    }
    return pitches;
  }

  /// Whether a var, and what it is under another shape, is of the block alone and changed by its producer alone.
  bool may_show(const Program& program, At at, VarId v) const {
    if (shows_[v] != kNone && !may_show(program, at, shows_[v])) return false;
    return program.vars[v].block == at.first && !is_result_[v] && !is_persistable(program.vars[v].kind) &&
           std::all_of(touched_[v].begin(), touched_[v].end(), [&](At by) {
             const Op& op = op_at(program, by);
             return by.first == at.first && op.blocks.empty() && !op_def(op.type).updates;
           });
  }

  /// Whether it, and what it is under another shape, may be written elsewhere than in memory of its own.
  bool may_write(const Program& program, VarId v) const {
    if (shows_[v] != kNone && !may_write(program, shows_[v])) return false;
    return program.vars[v].kind == Kind::Temp && pins_[v] == Pin::None;
  }

  VarId root_of(VarId v) const { return shows_[v] == kNone ? v : root_of(shows_[v]); }

  /// Whether it lies in another var already.
  bool is_part(const Program& program, VarId v) const {
    return std::any_of(touched_[v].begin(), touched_[v].end(), [&](At by) {
      const Op& op = op_at(program, by);
      const ViewOf view = op_def(op.type).view;
      return (view == ViewOf::Part && op.out[0] == v) || (view == ViewOf::Parts && op.out[0] != v);
    });
  }

  bool takes_rows_apart(const Program& program, At at, VarId v) const {
    return std::all_of(touched_[v].begin(), touched_[v].end(),
                       [&](At by) { return by == at || op_def(op_at(program, by).type).pitched; });
  }

  static const Op& op_at(const Program& program, At at) { return program.blocks[at.first].ops[at.second]; }

  const std::vector<Pin>& pins_;
  const std::int64_t alignment_;
  std::vector<std::vector<At>> touched_;  // by VarId: by which ops
  std::vector<bool> is_result_;           // by VarId: of a block
  std::vector<VarId> shows_;              // by VarId: what it is under another shape; kNone: it is none of those views
  std::vector<At> all_;
};

}  // namespace

std::optional<Program> views_for_copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment,
                                        const std::function<std::int64_t(const Program&)>& most_alive) {
  const Copies copies(program, pins, alignment);
  if (copies.all().empty()) return std::nullopt;
  Program all = program;
  bool any = false;
  for (auto at = copies.all().rbegin(); at != copies.all().rend(); ++at) any = copies.replace(all, *at) || any;
  if (!any) return std::nullopt;
  std::int64_t most = most_alive(program);
  if (most_alive(all) <= most) return all;
  std::optional<Program> best;
  for (auto at = copies.all().rbegin(); at != copies.all().rend(); ++at) {
    Program next = best ? *best : program;
    if (!copies.replace(next, *at)) continue;
    if (const std::int64_t bytes = most_alive(next); bytes <= most) {
      most = bytes;
      best = std::move(next);
    }
  }
  return best;
}

}  // namespace lethe
