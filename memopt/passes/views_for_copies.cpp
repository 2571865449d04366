#include "memopt/passes/views_for_copies.h"

#include <algorithm>
#include <utility>

#include "framework/language/views.h"

namespace lethe {
namespace {

/// A block and the position of an op in it.
using At = std::pair<BlockId, std::size_t>;

/// A program in which copies become views one by one. What lies together, in whatever way, is one group.
struct Viewing {
  explicit Viewing(const Program& of) : program(of), group(view_root(of)), members(of.vars.size()) {
    fills.assign(of.vars.size(), true);
    for (std::size_t v = 0; v < group.size(); ++v) members[group[v]].push_back(static_cast<VarId>(v));
  }

  void put(VarId part, VarId whole) {
    const VarId from = group[part], into = group[whole];
    for (const VarId v : members[from]) {
      group[v] = into;
      fills[v] = false;
    }
    members[into].insert(members[into].end(), members[from].begin(), members[from].end());
    members[from].clear();
  }

  Program program;
  std::vector<VarId> group;                 // by VarId: its root
  std::vector<std::vector<VarId>> members;  // by root
  std::vector<bool> fills;                  // by VarId: it is all of its root
};

class Copies {
 public:
  Copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment)
      : pins_(pins), alignment_(alignment), touched_(program.vars.size()), is_result_(program.vars.size()) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      for (const VarId v : program.blocks[b].results) is_result_[v] = true;
      for (std::size_t i = 0; i < program.blocks[b].ops.size(); ++i) {
        const Op& op = program.blocks[b].ops[i];
        for (const auto* vars : {&op.in, &op.out})
          for (const VarId v : *vars)
            if (v != kNone) touched_[v].emplace_back(static_cast<BlockId>(b), i);
        if (op_def(op.type).as_view) all_.emplace_back(static_cast<BlockId>(b), i);
      }
    }
  }

  /// From the last of the program to the first, so that what is part of a part is asked after that.
  std::vector<At> all() const { return {all_.rbegin(), all_.rend()}; }

  /// Makes the op there a view; false, and nothing is changed, if it cannot be one.
  bool replace(Viewing& to, At at) const {
    const Op& op = op_at(to.program, at);
    Op view = op;
    view.type = op_def(op.type).as_view;
    const std::vector<Shown> parts = shown_by(to.program, view);
    std::vector<std::int64_t> pitches;
    std::vector<VarId> moved;
    for (const Shown& part : parts) {
      const std::optional<std::int64_t> pitch = pitch_in(to.program, op, part);
      const VarId root = to.group[part.var];
      if (!pitch || (*pitch > 0 && !takes_rows_apart(to, at, part.var)) || !to.fills[part.var] ||
          !may_lie(to, at, part.var, true) || std::find(moved.begin(), moved.end(), root) != moved.end())
        return false;
      pitches.push_back(*pitch);
      moved.push_back(root);
    }
    const VarId whole = parts.front().in;
    const bool written_by_parts = op_def(view.type).view == ViewOf::Parts;
    if (!may_lie(to, at, whole, written_by_parts) ||
        std::find(moved.begin(), moved.end(), to.group[whole]) != moved.end())
      return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      to.program.vars[parts[i].var].pitch = pitches[i];
      to.put(parts[i].var, whole);
    }
    to.program.blocks[at.first].ops[at.second] = std::move(view);
    return true;
  }

 private:
  /// Nothing if it cannot lie there.
  std::optional<std::int64_t> pitch_in(const Program& program, const Op& op, const Shown& part) const {
    const Var& whole = program.vars[part.in];
    const auto pitch =
        pitch_of_part(whole, program.vars[part.var].shape, static_cast<std::size_t>(op.attrs.integer("axis")));
    const bool begins_anywhere = pitch && *pitch > 0;
    if (!begins_anywhere && (whole.pitch > 0 || part.offset % alignment_ != 0)) return std::nullopt;
    return pitch;
  }

  /// Whether all that lies with it is of the block alone, changed by its producers alone, and handed on by nothing; and
  /// if it is to be written elsewhere than before, neither fed nor pinned.
  bool may_lie(const Viewing& in, At at, VarId v, bool elsewhere) const {
    const std::vector<VarId>& all = in.members[in.group[v]];
    return std::all_of(all.begin(), all.end(), [&](VarId member) {
      const Var& var = in.program.vars[member];
      return var.block == at.first && !is_result_[member] && !is_persistable(var.kind) &&
             (!elsewhere || pins_[member] == Pin::None) &&
             std::all_of(touched_[member].begin(), touched_[member].end(), [&](At by) {
               const Op& op = op_at(in.program, by);
               return by.first == at.first && op.blocks.empty() && !op_def(op.type).updates;
             });
    });
  }

  /// Whether all that touches it does, the op itself apart.
  bool takes_rows_apart(const Viewing& in, At at, VarId v) const {
    return std::all_of(touched_[v].begin(), touched_[v].end(),
                       [&](At by) { return by == at || op_def(op_at(in.program, by).type).pitched; });
  }

  static const Op& op_at(const Program& program, At at) { return program.blocks[at.first].ops[at.second]; }

  const std::vector<Pin>& pins_;
  const std::int64_t alignment_;
  std::vector<std::vector<At>> touched_;  // by VarId: by which ops
  std::vector<bool> is_result_;           // by VarId: of a block
  std::vector<At> all_;                   // in the order of the program
};

/// Takes as many copies away as leave the most that is alive as it is: all of a range, or else what each half allows.
class Search {
 public:
  Search(const Copies& copies, const Program& program, const MostAlive& most_alive)
      : copies_(copies), most_alive_(most_alive), best_(program) {}

  std::optional<Program> run() && {
    const std::vector<At> all = copies_.all();
    take(all.begin(), all.end());
    return changed_ ? std::optional(std::move(best_.program)) : std::nullopt;
  }

 private:
  using Next = std::vector<At>::const_iterator;
  void take(Next begin, Next end) {
    if (begin == end || trials_ == kMostTrials) return;
    Viewing tried = best_;
    bool any = false;
    for (Next at = begin; at != end; ++at) any = copies_.replace(tried, *at) || any;
    if (!any) return;
    if (trials_++ == 0) most_ = most_alive_(best_.program);
    if (const std::int64_t bytes = most_alive_(tried.program); bytes <= most_) {
      most_ = bytes;
      best_ = std::move(tried);
      changed_ = true;
    } else if (end - begin > 1) {
      const Next middle = begin + (end - begin) / 2;
      take(begin, middle);
      take(middle, end);
    }
  }

  static constexpr int kMostTrials = 100;  // then the rest stay copies: a trial takes what planning takes
  const Copies& copies_;
  const MostAlive& most_alive_;
  Viewing best_;
  bool changed_ = false;
  int trials_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace

std::optional<Program> views_for_copies(const Program& program, const std::vector<Pin>& pins, std::int64_t alignment,
                                        const MostAlive& most_alive) {
  const Copies copies(program, pins, alignment);
  if (copies.all().empty()) return std::nullopt;
  return Search(copies, program, most_alive).run();
}

}  // namespace lethe
