#include "memopt/analysis/check_plan.h"

#include <algorithm>
#include <optional>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/language/views.h"
#include "memopt/analysis/extents.h"
#include "memopt/analysis/plan_state.h"
#include "memopt/analysis/plan_sums.h"

namespace lethe {
namespace {

class Run {
 public:
  Run(const Program& program, const Plan& plan, const Workspaces& workspaces)
      : program_(program),
        plan_(plan),
        workspaces_(workspaces),
        extents_(program, plan, workspaces.alignment),
        in_store_(program.vars.size()),
        shown_(program.vars.size()),
        state_{.bytes = HeldBytes(program.vars.size() + plan.staging.inputs.size()),
               .taken = std::vector<bool>(plan.buffers.size())} {}

  void run(const PinOptions& wanted) {
    check_sizes(program_, plan_);
    for (std::size_t v = 0; v < program_.vars.size(); ++v) {
      const Kind kind = program_.vars[v].kind;
      in_store_[v] = is_persistable(kind);
      shown_[v] = static_cast<VarId>(v);
      if (kind != Kind::Input || !has_place(static_cast<VarId>(v))) continue;
      check(!plan_.buffers[plan_.vars[v].buffer].on_demand, "plan: the input '", name(static_cast<VarId>(v)),
            "' lies in memory on demand");
      write(static_cast<VarId>(v));
    }
    kept_ = kept_vars(wanted);
    block(0);
    check_end();
    check_bytes(program_, plan_, most_on_demand_);
  }

 private:
  void block(BlockId id) {
    if (id > 0) begin_again(id);
    const std::vector<Op>& ops = program_.blocks[id].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      if (id == 0 && !plan_.staging.inputs.empty() && plan_.staging.op == static_cast<int>(i)) stage();
      if (op.type == kDeleteVar)
        give_back(op.in[0]);
      else if (op_def(op.type).is_view())
        view(op);
      else if (op.type == kWhile)
        loop(op);
      else if (op.type == kIf)
        branch(op);
      else
        compute(op, id, i);
    }
  }

  /// What a block has made in the trip before nobody reads in the next one, but for what is kept: a value that one side
  /// of a branch makes is read by the same side of its gradient, and on the other way it may lie under anything.
  void begin_again(BlockId id) {
    for (std::size_t v = 0; v < program_.vars.size(); ++v)
      if (program_.vars[v].block == id && !kept_[shown_[v]] && !in_store_[v] && has_place(static_cast<VarId>(v)))
        state_.bytes.forget(extent_of(static_cast<VarId>(v)), static_cast<int>(v));
  }

  void compute(const Op& op, BlockId block, std::size_t index) {
    if (op_def(op.type).waits)
      for (const VarId v : op.in)
        check(state_.under_way.end(v), "plan: '", op.type, "' waits for '", name(v), "', which is not under way");
    for (const VarId v : op.in)
      if (v != kNone) read(v, op);
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) check_output(op, slot);
    if (const std::int64_t bytes = workspaces_.bytes[block][index]; bytes > 0) {
      const Extent extent = extents_.of(plan_.workspaces[block][index], bytes, kWorkspace, op.type);
      check(!plan_.buffers[extent.buffer].on_demand, "plan: the workspace of '", op.type, "' lies in memory on demand");
      for (const auto* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          check(v == kNone || in_store_[v] || !extent.meets(extent_of(v)), "plan: the workspace of '", op.type,
                "' lies over '", name(v), "', which it uses");
      state_.clobber(extent, kWorkspace + op.type);
    }
    for (const VarId v : op.out) write(v);
    if (!begins_exchange(op)) return;
    for (const VarId v : op.out) state_.under_way.begin(v, in_store_[v] ? Extent{} : extent_of(v), name(v));
  }

  /// Which inputs and other outputs an output lies over.
  void check_output(const Op& op, std::size_t slot) const {
    const VarId out = op.out[slot];
    if (in_store_[out]) return;
    const Extent extent = extent_of(out);
    for (std::size_t other = 0; other < slot; ++other)
      check(in_store_[op.out[other]] || !extent.meets(extent_of(op.out[other])), "plan: '", op.type, "' writes '",
            name(out), "' over '", name(op.out[other]), "', which it writes as well");
    std::optional<std::size_t> replaced;
    for (std::size_t i = 0; i < op.in.size(); ++i) {
      const VarId in = op.in[i];
      if (in == kNone || in_store_[in] || !extent.meets(extent_of(in))) continue;
      check(!replaced && may_replace(op, i, slot), "plan: '", op.type, "' cannot write '", name(out), "' in place of '",
            name(in), "'");
      replaced = i;
    }
  }

  bool may_replace(const Op& op, std::size_t in, std::size_t out) const {
    const OpDef& def = op_def(op.type);
    if (def.updates && in == out && op.in[in] == op.out[out]) return true;
    const Extent read = extent_of(op.in[in]), written = extent_of(op.out[out]);
    return read.begin == written.begin && read.end >= written.end && read.pitch == written.pitch &&
           std::any_of(def.inplace.begin(), def.inplace.end(), [&](const InPlace& pair) {
             return pair.in == static_cast<int>(in) && pair.out == static_cast<int>(out);
           });
  }

  void view(const Op& op) {
    for (const VarId v : op.in) read(v, op);
    const bool is_part = op_def(op.type).view != ViewOf::Parts;
    for (const Shown& shown : shown_by(program_, op)) {
      if (is_part) {
        in_store_[shown.var] = in_store_[shown.in];
        shown_[shown.var] = shown_[shown.in];
      }
      Place place = plan_.vars[shown.in];
      if (place.buffer >= 0) place.offset += shown.offset;
      check(plan_.vars[shown.var] == place, "plan: '", name(shown.var), "' is a view of '", name(shown.in),
            "' but lies elsewhere");
    }
    if (const VarId out = op.out[0]; !in_store_[out]) state_.bytes.show(extent_of(out), out);
  }

  void loop(const Op& op) {
    const Block &condition = program_.blocks[op.blocks[0]], &body = program_.blocks[op.blocks[1]];
    for (std::size_t i = 0; i < body.results.size(); ++i) hand_on(op.in[i], op.out[i], op);
    for (;;) {
      const PlanState begin = state_;
      block(op.blocks[0]);
      read(condition.results[0], op);
      const PlanState end = state_;
      block(op.blocks[1]);
      for (std::size_t i = 0; i < body.results.size(); ++i) hand_on(body.results[i], op.out[i], op);
      join(begin);
      if (state_ != begin) continue;
      state_ = end;
      return;
    }
  }

  void branch(const Op& op) {
    read(op.in[0], op);
    const PlanState before = state_;
    std::optional<PlanState> other;
    for (const BlockId side : op.blocks) {
      state_ = before;
      block(side);
      const std::vector<VarId>& results = program_.blocks[side].results;
      for (std::size_t i = 0; i < results.size(); ++i) hand_on(results[i], op.out[i], op);
      if (!other) other = state_;
    }
    join(*other);
  }

  /// What is so at this point of the program may also be as `other` has it.
  void join(const PlanState& other) {
    state_.bytes.join(other.bytes);
    state_.under_way.join(other.under_way);
    for (std::size_t b = 0; b < state_.taken.size(); ++b)
      if (other.taken[b]) hold(static_cast<int>(b));
  }

  /// A copy, but of what is there already.
  void hand_on(VarId from, VarId to, const Op& op) {
    read(from, op);
    if (in_store_[from] || plan_.vars[from] != plan_.vars[to]) {
      check(in_store_[from] || !extent_of(from).meets(extent_of(to)), "plan: '", op.type, "' copies '", name(from),
            "' to '", name(to), "', which lies across it");
      return write(to);
    }
    take(to);
    state_.bytes.show(extent_of(to), to);
  }

  void read(VarId v, const Op& op) const {
    check(!state_.under_way.has(v), "plan: '", op.type, "' reads '", name(v), "', which is under way");
    if (in_store_[v]) return check_store(v);
    extent_of(v);
    const int buffer = plan_.vars[v].buffer;
    check(!plan_.buffers[buffer].on_demand || state_.taken[buffer], "plan: '", op.type, "' reads '", name(v),
          "', whose memory has been given back");
    check(!state_.bytes.is_lost(v), "plan: '", op.type, "' reads '", name(v), "' after '", state_.bytes.lost_to(v),
          "' was written over it");
  }

  void write(VarId v) {
    if (in_store_[v]) return check_store(v);
    take(v);
    state_.write(extent_of(v), v, name(v));
  }

  void take(VarId v) {
    const int buffer = plan_.vars[v].buffer;
    if (buffer < 0 || !plan_.buffers[buffer].on_demand) return;
    hold(buffer);
    most_on_demand_ = std::max(most_on_demand_, state_.held);
  }
  void hold(int buffer) {
    if (!state_.taken[buffer]) state_.held += plan_.buffers[buffer].bytes;
    state_.taken[buffer] = true;
  }

  void give_back(VarId v) {
    const int buffer = plan_.vars[v].buffer;
    check(buffer >= 0 && plan_.buffers[buffer].on_demand && state_.taken[buffer], "plan: '", name(v),
          "' is given back while it is not held");
    state_.clobber({buffer, 0, plan_.buffers[buffer].bytes}, kDeleteVar);
    state_.taken[buffer] = false;
    state_.held -= plan_.buffers[buffer].bytes;
  }

  /// From here on the next step's inputs are written there, nobody knows when.
  void stage() {
    for (std::size_t v = 0; v < plan_.staging.inputs.size(); ++v)
      if (const Place place = plan_.staging.inputs[v]; place.buffer >= 0) {
        check(has_place(static_cast<VarId>(v)), "plan: '", name(static_cast<VarId>(v)), "' is staged for no place");
        state_.write(extents_.of(place, bytes_of(program_.vars[v]), "", kNextInput), staged(v), kNextInput);
      }
  }
  int staged(std::size_t input) const { return static_cast<int>(program_.vars.size() + input); }

  std::vector<bool> kept_vars(const PinOptions& wanted) const {
    std::vector<bool> kept(program_.vars.size(), plan_.kept.empty());
    for (std::size_t v = 0; v < plan_.kept.size(); ++v) kept[v] = plan_.kept[v];
    for (const VarId v : wanted.fetched)
      check(kept[v], "plan: '", name(v), "' is fetched, but the plan does not say that it keeps it");
    for (std::size_t v = 0; v < kept.size(); ++v) kept[v] = kept[v] || program_.vars[v].kind == Kind::Input;
    for (const std::string& skipped : wanted.skip_vars)
      if (const VarId v = find_var(program_, skipped); v != kNone) kept[v] = true;
    for (const Block& block : program_.blocks)
      for (const Op& op : block.ops)
        if (const int slot = op_def(op.type).gradient; wanted.skip_grads && slot >= 0) kept[op.in[slot]] = true;
    return kept;
  }

  void check_end() const {
    state_.under_way.check_none();
    for (std::size_t v = 0; v < kept_.size(); ++v)
      check(!kept_[v] || in_store_[v] || !state_.bytes.is_lost(shown_[v]), "plan: '", state_.bytes.lost_to(shown_[v]),
            "' is written over '", name(static_cast<VarId>(v)), "', which is kept to the end of the step");
    for (std::size_t v = 0; v < plan_.staging.inputs.size(); ++v)
      check(!state_.bytes.is_lost(staged(v)), "plan: '", state_.bytes.lost_to(staged(v)), "' is written over ",
            kNextInput);
    for (std::size_t b = 0; b < plan_.buffers.size(); ++b)
      check(!state_.taken[b], "plan: buffer ", b, " is still held at the end of the step");
  }

  void check_store(VarId v) const {
    check(!has_place(v), "plan: '", name(v), "' lives in the store, but has a place in a buffer");
  }
  bool has_place(VarId v) const { return plan_.vars[v].buffer >= 0; }
  const std::string& name(VarId v) const { return program_.vars[v].name; }
  Extent extent_of(VarId v) const { return extents_.of(v); }

  static constexpr const char *kNextInput = "the next input", *kWorkspace = "the workspace of ";
  const Program& program_;
  const Plan& plan_;
  const Workspaces& workspaces_;
  const Extents extents_;
  std::vector<bool> in_store_;  // by VarId; of views once they are shown
  std::vector<VarId> shown_;    // by VarId: what it is a view of, once it is; or itself
  std::vector<bool> kept_;      // by VarId: to the end of the step
  PlanState state_;
  std::int64_t most_on_demand_ = 0;
};

}  // namespace

void check_plan(const Program& program, const PinOptions& wanted, const Plan& plan, const Workspaces& workspaces) {
  Run(program, plan, workspaces).run(wanted);
}

}  // namespace lethe
