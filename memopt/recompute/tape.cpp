#include "memopt/recompute/tape.h"

#include <algorithm>

#include "framework/language/control_flow.h"
#include "framework/language/op_facts.h"
#include "framework/language/reads.h"
#include "framework/language/views.h"
#include "framework/run/prepared.h"
#include "memopt/analysis/activates.h"

namespace lethe {
namespace {

/// A value of fewer bytes than the largest divided by this is always kept.
constexpr std::int64_t kTooSmall = 4000;

class Taping {
 public:
  Taping(const Program& program, const std::vector<Pin>& pins, const Workspaces& workspaces, const TapeDevice& device)
      : program_(program),
        ops_(program.blocks[0].ops),
        workspaces_(workspaces),
        device_(device),
        reads_(reads_of(program)) {
    tape_.root = view_root(program);
    tape_.values.resize(program.vars.size());
    for (std::size_t v = 0; v < program.vars.size(); ++v) {
      const VarId root = tape_.root[v];
      TapeValue& value = tape_.values[root];
      if (root == static_cast<VarId>(v) && !is_persistable(program.vars[v].kind))
        value.bytes = round_up(bytes_of(program.vars[v]), workspaces.alignment);
      value.given = value.given || pins[v] == Pin::Fed;
      value.lasts = value.lasts || pins[v] != Pin::None;
    }
  }

  Tape run() && {
    find_parts();
    find_second_pass();
    for (const TapePart& part : tape_.parts)
      for (int i = part.begin; i < part.end; ++i) add(part, i);
    find_limits();
    find_candidates();
    return std::move(tape_);
  }

 private:
  /// The first op of role Backward turns a part; a forward one after that begins the next.
  void find_parts() {
    const int count = static_cast<int>(ops_.size());
    TapePart part{.turn = count};
    for (int i = 0; i < count; ++i) {
      if (ops_[i].role == Role::Backward) part.turn = std::min(part.turn, i);
      if (ops_[i].role != Role::Forward || part.turn == count) continue;
      part.end = i;
      tape_.parts.push_back(part);
      part = {.begin = i, .turn = count};
    }
    part.end = count;
    tape_.parts.push_back(part);
  }

  void find_second_pass() {
    const auto all = std::ranges::find_if(ops_, [](const Op& op) { return op_def(op.type).all_gradients != nullptr; });
    const auto next = std::find_if(all, ops_.end(), [](const Op& op) { return op.role == Role::Backward; });
    tape_.second_pass = static_cast<int>(next - ops_.begin());
  }

  TapeCall call_of(const Op& op, std::int64_t workspace) const {
    TapeCall call{.workspace = round_up(workspace, workspaces_.alignment)};
    const auto collect = [&](const std::vector<VarId>& vars, std::vector<VarId>& values) {
      for (const VarId v : vars)
        if (v != kNone && std::find(values.begin(), values.end(), tape_.root[v]) == values.end())
          values.push_back(tape_.root[v]);
    };
    collect(op.in, call.in);
    collect(op.out, call.out);
    for (const InPlace& pair : inplace_pairs(program_, op)) {
      const VarId in = tape_.root[op.in[pair.in]], out = tape_.root[op.out[pair.out]];
      const auto reads =
          std::count_if(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && tape_.root[v] == in; });
      if (reads == 1 && in != out) call.in_place.emplace_back(in, out);
    }
    if (!runs_nothing(op)) call.seconds = device_.seconds_of(program_, op);
    return call;
  }

  /// As fuse_sums and fuse_activations have it, with the ops that make the operands so far.
  std::vector<TapeJoin> joins_of(const Op& op) const {
    std::vector<TapeJoin> joins;
    const auto maker_of = [&](VarId v) { return maker_[v] ? &op_def(maker_[v]->type) : nullptr; };
    const bool sums = op.type == kAdd;
    if (!device_.fuses || (!sums && op_def(op.type).part != FusionPart::Activation)) return joins;
    for (std::size_t i = 0; i < op.in.size(); ++i) {
      const OpDef* const maker = maker_of(op.in[i]);
      if (!maker || reads_[op.in[i]] != 1 || !(sums ? maker->adds >= 0 : activates_on(*maker, device_.kind))) continue;
      joins.push_back({op.in[i], sums ? device_.seconds_of(program_, op) / 3 : 0});  // of three values moved one
    }
    return joins;
  }

  void add(const TapePart& part, int i) {
    const Op& op = ops_[i];
    TapeOp made{.call = call_of(op, workspaces_.bytes[0][i]), .is_view = op_def(op.type).is_view()};
    made.repeats = op.role == Role::Forward && op.blocks.empty() && !op_def(op.type).updates && !runs_nothing(op) &&
                   !exchanges(op);
    made.call.joins = joins_of(op);
    for (const VarId v : op.out) maker_[v] = &op;
    if (const auto again = op_def(op.type).again; again && made.repeats) {
      made.again = call_of(again(op), 0);
      made.has_again = true;
    }
    tape_.seconds += made.call.seconds;
    if (i < part.turn) tape_.forward_seconds += made.call.seconds;
    tape_.ops.push_back(std::move(made));
  }

  /// By value, from the last op to the first: which op changes it next. What is written anew is none of that.
  void find_limits() {
    std::vector<int> changed(program_.vars.size(), static_cast<int>(ops_.size()));
    for (int i = static_cast<int>(ops_.size()); i-- > 0;) {
      TapeOp& op = tape_.ops[i];
      op.until = static_cast<int>(ops_.size());
      for (const VarId v : op.call.in) op.until = std::min(op.until, changed[v]);
      if (op_def(ops_[i].type).updates || !ops_[i].blocks.empty())
        for (const VarId v : op.call.out) changed[v] = i;
    }
  }

  /// Of values that one op makes and whose other vars are it under another shape; none that loops or branches touch,
  /// nor any other that the op makes beside such a value, since blocks name the first of these; none that is changed,
  /// and none that another part or an update reads.
  void find_candidates() {
    const std::size_t vars = program_.vars.size();
    std::vector<int> maker(vars, -1);
    std::vector<bool> fixed(vars), in_blocks(vars);
    std::int64_t largest = 0;
    std::size_t part = 0;
    for (int i = 0; i < static_cast<int>(ops_.size()); ++i) {
      while (i >= tape_.parts[part].end) ++part;
      const Op& op = ops_[i];
      const TapeOp& taped = tape_.ops[i];
      const bool whole_view = taped.is_view && op_def(op.type).view == ViewOf::Whole;
      for (const VarId v : taped.call.out) {
        if (!whole_view && !taped.repeats) fixed[v] = true;
        if (!whole_view && maker[v] >= 0) fixed[v] = true;
        if (!whole_view) maker[v] = i, tape_.values[v].turn = tape_.parts[part].turn;
      }
      if (!op.blocks.empty() || (taped.is_view && !whole_view))
        for (const VarId v : taped.call.in) fixed[v] = true, in_blocks[v] = in_blocks[v] || !op.blocks.empty();
      for (const VarId v : taped.call.in) {
        const bool other_part = maker[v] >= 0 && maker[v] < tape_.parts[part].begin;
        if (other_part || (i >= tape_.parts[part].turn && op.role == Role::Optimize)) fixed[v] = true;
        if (i >= tape_.values[v].turn) tape_.values[v].read_by_backward = true;
      }
    }
    std::vector<VarId> all;
    for (const TapeValue& value : tape_.values) largest = std::max(largest, value.bytes);
    for (std::size_t v = 0; v < vars; ++v) {
      const TapeValue& value = tape_.values[v];
      const auto named_in_blocks = [&](VarId out) { return in_blocks[out]; };
      if (maker[v] < 0 || fixed[v] || std::ranges::any_of(tape_.ops[maker[v]].call.out, named_in_blocks) ||
          value.lasts || program_.vars[v].block != 0 || program_.vars[v].pitch != 0 ||
          value.bytes < std::max<std::int64_t>(largest / kTooSmall, 1))
        continue;
      tape_.values[v].maker = maker[v];
      all.push_back(static_cast<VarId>(v));
    }
    std::sort(all.begin(), all.end(), [&](VarId a, VarId b) {
      return std::pair(tape_.values[a].maker, a) < std::pair(tape_.values[b].maker, b);
    });
    put_together(all);
  }

  /// Each by itself, unless the parts have as many, of the same bytes.
  void put_together(const std::vector<VarId>& all) {
    const std::size_t parts = tape_.parts.size(), each = all.size() / parts;
    bool alike = each * parts == all.size();
    for (std::size_t i = 0; alike && i < all.size(); ++i)
      alike = tape_.values[all[i]].bytes == tape_.values[all[i % each]].bytes &&
              tape_.values[all[i]].turn == tape_.parts[i / each].turn;
    const std::size_t sets = alike ? each : all.size();
    for (std::size_t i = 0; i < sets; ++i) {
      tape_.candidates.push_back({});
      for (std::size_t j = i; j < all.size(); j += sets) tape_.candidates.back().push_back(all[j]);
    }
  }

  const Program& program_;
  const std::vector<Op>& ops_;
  const Workspaces& workspaces_;
  const TapeDevice& device_;
  const std::vector<int> reads_;                                                 // by VarId
  std::vector<const Op*> maker_ = std::vector<const Op*>(program_.vars.size());  // by VarId
  Tape tape_;
};

}  // namespace

Tape tape_of(const Program& program, const std::vector<Pin>& pins, const Workspaces& workspaces,
             const TapeDevice& device) {
  return Taping(program, pins, workspaces, device).run();
}

}  // namespace lethe
