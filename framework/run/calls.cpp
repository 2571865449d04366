#include "framework/run/calls.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/language/footprint.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/language/views.h"

namespace lethe {
namespace {

class Maker {
 public:
  Maker(const Program& program, const Plan& plan, Prepared& prepared, const PlannedMemory& memory, Device& device)
      : program_(program), plan_(plan), prepared_(prepared), memory_(memory), device_(device) {}

  Calls run() {
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      std::vector<Call>& calls = calls_.blocks.emplace_back(calls_of(static_cast<BlockId>(b)));
      for (const Piece& piece : calls_.pieces.emplace_back(pieces_of(static_cast<BlockId>(b), calls)))
        if (!memory_.any_on_demand()) group(calls, piece);
    }
    return std::move(calls_);
  }

 private:
  std::vector<Call> calls_of(BlockId block) {
    std::vector<Call> calls;
    const std::vector<Op>& ops = program_.blocks[block].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (!op.blocks.empty())
        calls.push_back({.op = &op, .carries = make_carries(op)});
      else if (op.type == kDeleteVar)
        calls.push_back({.op = &op});
      else if (!runs_nothing(op))
        calls.push_back(make_call(op, plan_.workspaces[block][i]));
    }
    return calls;
  }

  Call make_call(const Op& op, Place workspace) {
    const auto slots_of = [&](const std::vector<VarId>& vars) { return calls_.slots.emplace_back(vars.size()).data(); };
    Call call{.kernel = &prepared_.kernel(program_, op),
              .op = &op,
              .args = {},
              .inputs = slots_of(op.in),
              .outputs = slots_of(op.out)};
    call.args = {call.inputs,      call.outputs,      memory_.address(workspace),
                 device_.stream(), device_.tickets(), device_.value_peers()};
    look_up(memory_, call);
    return call;
  }

  Call make_copy(VarId from, VarId to) {
    calls_.copies.push_back(std::make_unique<Op>(Op{.type = kAssign, .in = {from}, .out = {to}}));
    return make_call(*calls_.copies.back(), {});
  }

  int make_carries(const Op& op) {
    Carries carries{.max_trips = op.type == kWhile ? op.attrs.integer(kMaxTrips) : 0};
    const std::size_t carried = loop_carried(program_, op);
    for (std::size_t i = 0; op.type == kWhile && i < carried; ++i)
      carries.enter.push_back(make_copy(op.in[i], op.out[i]));
    for (const BlockId body : op.blocks) {
      std::vector<Call>& leave = carries.leave.emplace_back();
      const std::vector<VarId>& results = program_.blocks[body].results;
      const bool is_condition = op.type == kWhile && body == op.blocks.front();
      for (std::size_t i = 0; !is_condition && i < carried; ++i) leave.push_back(make_copy(results[i], op.out[i]));
    }
    calls_.carries.push_back(std::move(carries));
    return static_cast<int>(calls_.carries.size()) - 1;
  }

  std::vector<Piece> pieces_of(BlockId block, const std::vector<Call>& calls) const {
    const Staging& staging = plan_.staging;
    const bool stages = block == 0 && !staging.inputs.empty();
    const Op* const marked = stages ? &program_.blocks[0].ops[staging.op] : nullptr;
    bool found = !stages;
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool marks = calls[i].op == marked;
      const bool goes_on = i > 0 && calls[i].carries < 0 && calls[i - 1].carries < 0 && !marks;
      if (!goes_on) pieces.push_back({.begin = i, .end = i, .marks = marks});
      pieces.back().end = i + 1;
      found = found || marks;
    }
    check_as(Exit::Internal, found, "the plan's staging begins with an op that is no call");
    return pieces;
  }

  void group(std::vector<Call>& calls, const Piece& piece) {
    for (std::size_t first = piece.begin, i = first + 1; first < piece.end; first = i++) {
      if (!may_group(calls[first])) continue;
      Footprint before(storage_);
      before.add(*calls[first].op);
      for (; i < piece.end && joins(calls, first, i) && !before.conflicts_with(*calls[i].op); ++i)
        before.add(*calls[i].op);
      if (i - first < 2) continue;
      calls[first].group = static_cast<int>(calls_.groups.size());
      std::vector<KernelCall>& group = calls_.groups.emplace_back();
      for (std::size_t each = first; each < i; ++each) group.push_back({calls[each].kernel, calls[each].args});
    }
  }

  bool may_group(const Call& call) const {
    return call.kernel && (op_def(call.op->type).updates || copies_kept(program_, *call.op));
  }
  /// Whether call i may be done in one launch with those from `first` on. Temps that are made have a place of their
  /// own: one that nobody reads may give it to the next.
  bool joins(const std::vector<Call>& calls, std::size_t first, std::size_t i) const {
    if (!may_group(calls[i]) || !calls[first].kernel->groups_with(*calls[i].kernel)) return false;
    return std::none_of(calls.begin() + static_cast<std::ptrdiff_t>(first),
                        calls.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Call& before) { return overlap(before.op->out[0], calls[i].op->out[0]); });
  }
  bool overlap(VarId a, VarId b) const {
    const auto begin = [&](VarId v) { return static_cast<const char*>(memory_.address(v)); };
    const auto end = [&](VarId v) { return begin(v) + bytes_of(program_.vars[v]); };
    return begin(a) < end(b) && begin(b) < end(a);
  }

  const Program& program_;
  const std::vector<VarId> storage_ = view_root(program_);
  const Plan& plan_;
  Prepared& prepared_;
  const PlannedMemory& memory_;
  Device& device_;
  Calls calls_;
};

}  // namespace

Calls make_calls(const Program& program, const Plan& plan, Prepared& prepared, const PlannedMemory& memory,
                 Device& device) {
  return Maker(program, plan, prepared, memory, device).run();
}

void look_up(const PlannedMemory& memory, Call& call) {
  const auto address = [&](VarId v) { return v == kNone ? nullptr : memory.address(v); };
  std::transform(call.op->in.begin(), call.op->in.end(), call.inputs, address);
  std::transform(call.op->out.begin(), call.op->out.end(), call.outputs, address);
}

}  // namespace lethe
