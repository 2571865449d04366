#include "framework/language/verify.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "framework/error.h"
#include "framework/language/block_formats.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/language/views.h"

namespace lethe {
namespace {

bool optional_slot(const std::string& name) { return !name.empty() && name.back() == '?'; }
bool variadic_slot(const std::string& name) { return name.size() > 3 && name.compare(name.size() - 3, 3, "...") == 0; }

bool contains(const std::vector<VarId>& vars, VarId v) { return std::find(vars.begin(), vars.end(), v) != vars.end(); }

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program),
        written_(program.vars.size()),
        shown_(program.vars.size()),
        same_as_(program.vars.size()),
        is_part_(program.vars.size()) {
    std::iota(same_as_.begin(), same_as_.end(), 0);
  }

  void run() {
    check_names();
    check(!program_.blocks.empty() && program_.blocks[0].parent == -1, "block 0 is missing or has a parent");
    for (std::size_t id = 1; id < program_.blocks.size(); ++id)
      check(program_.blocks[id].parent >= 0 && program_.blocks[id].parent < static_cast<BlockId>(id), "block ", id,
            " has parent ", program_.blocks[id].parent, ", expected an earlier block");
    for (std::size_t v = 0; v < program_.vars.size(); ++v) written_[v] = program_.vars[v].kind != Kind::Temp;
    is_used_.resize(program_.blocks.size());
    check_block(0);
    for (std::size_t id = 1; id < program_.blocks.size(); ++id) check(is_used_[id], "block ", id, " belongs to no op");
    check_roots();
  }

 private:
  void check_names() const {
    std::set<std::string> names;
    for (const Var& var : program_.vars) {
      check(!var.name.empty(), "a var has no name");
      check(names.insert(var.name).second, "two vars are named '", var.name, "'");
      check(var.block >= 0 && var.block < static_cast<BlockId>(program_.blocks.size()), "var '", var.name,
            "' is in block ", var.block, ", which does not exist");
      if (std::any_of(var.shape.begin(), var.shape.end(), [](std::int64_t size) { return size <= 0; }))
        fail("var '", var.name, "' has shape ", text_of(var.shape));
      const std::int64_t row = row_of(var.shape), rows = elements(var.shape) / row;
      check(var.pitch == 0 || var.pitch > row, "var '", var.name, "' has pitch ", var.pitch, ", but rows of ", row);
      with_context(var.name, [&] { return elements({rows, var.pitch}); });  // no more than can be counted
      if (is_in_blocks(var.dtype)) check_in_blocks(var);
    }
  }

  void check_in_blocks(const Var& var) const {
    check(is_persistable(var.kind) && var.pitch == 0, "'", var.name, "' is ", text_of(var),
          ", which only parameters and states are, without gaps");
    const std::string complaint = complaint_about_blocks(var.dtype, var.shape);
    check(complaint.empty(), "'", var.name, "': ", complaint);
  }

  void check_block(BlockId id) {
    const Block& block = program_.blocks[id];
    for (std::size_t i = 0; i < block.ops.size(); ++i)
      with_context(message("block ", id, ", op ", i, " '", block.ops[i].type, "'"),
                   [&] { check_op(block.ops[i], id); });
    for (const VarId v : block.results) {
      check_id(v, "a result of a block");
      check(written_[v], "block ", id, ": result '", name(v), "' is never written");
      check(program_.vars[v].pitch == 0, "block ", id, ": result '", name(v), "' has rows that lie apart");
    }
    for (const auto& [v, of] : under_way_)
      check(of.block != id, "block ", id, ": nothing waits for '", name(v), "', which ranks have begun to exchange");
  }

  void check_roots() const {
    const std::vector<View> views = views_of(program_);
    for (std::size_t v = 0; v < views.size(); ++v) {
      const Var& var = program_.vars[v];
      const bool is_root = views[v].root == static_cast<VarId>(v);
      check(is_root || var.kind == Kind::Temp, "the ", name_of(var.kind), " '", var.name, "' lies in '",
            name(views[v].root), "'");
      check(!is_root || var.pitch == 0, "'", var.name, "' has pitch ", var.pitch, ", but lies in no other var");
      const std::int64_t begin = views[v].offset, end = begin + span_of(var),
                         room = bytes_of(program_.vars[views[v].root]);
      check(begin >= 0 && end <= room, "'", var.name, "' lies in bytes ", begin, " to ", end, " of '",
            name(views[v].root), "', which has ", room);
    }
  }

  void check_op(const Op& op, BlockId block) {
    const OpDef& def = op_def(op.type);
    for (const VarId v : op.in)
      if (v != kNone) check_id(v, "an input");
    for (const VarId v : op.out) check_id(v, "an output");
    check_slots(op, def);
    for (const VarId v : op.in)
      check(v == kNone || written_[v], "reads '", v == kNone ? "" : name(v), "' before it is written");
    for (const auto* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        check(v == kNone || may_touch(op, block, program_.vars[v].block), "touches '", v == kNone ? "" : name(v),
              "', which is of a block that this one is not in");
    check_blocks(op, block);
    check_control_flow(program_, op);
    for (std::size_t slot = 0; slot < op.out.size(); ++slot) check_write(op, def, slot);
    check(!has_relu(op.attrs) || def.activates != Activates::Nowhere, "takes no activation");
    check_types(op, def);
    check_view(program_, op);
    for (const Shown& shown : shown_by(program_, op)) {
      check(def.view != ViewOf::Parts || program_.vars[shown.var].block == block, "'", name(shown.var),
            "' is written in another block");
      shown_[shown.var] = shown_[shown.in] = true;
      if (def.view == ViewOf::Whole) same_as_[shown.var] = same_as_[shown.in];
      check(def.view == ViewOf::Whole || !is_part_[same_as_[shown.var]], "'", name(shown.var),
            "' lies in another var already");
      if (def.view != ViewOf::Whole) is_part_[same_as_[shown.var]] = true;
    }
    for (const auto* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        check(v == kNone || program_.vars[v].pitch == 0 || def.is_view() || def.pitched,
              "takes no rows that lie apart, as those of '", v == kNone ? "" : name(v), "'");
    check_exchange(op, block);
  }

  /// What is begun belongs to the exchange until an op of the same block waits for all of it, once.
  void check_exchange(const Op& op, BlockId block) {
    if (op_def(op.type).waits) {
      const auto begun = op.in.empty() ? under_way_.end() : under_way_.find(op.in[0]);
      const bool all = begun != under_way_.end() && begun->second.block == block && begun->second.all == op.in;
      check(all, "waits for '", op.in.empty() ? "" : name(op.in[0]), "', which is not all of what one op has begun");
      for (const VarId v : op.in) under_way_.erase(v);
      return;
    }
    for (const auto* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        check(v == kNone || under_way_.count(v) == 0, "touches '", v == kNone ? "" : name(v), "', which is under way");
    if (begins_exchange(op))
      for (const VarId v : op.out) under_way_[v] = {block, op.out};
  }

  bool may_touch(const Op& op, BlockId block, BlockId of_var) const {
    return is_inside(program_, block, of_var) || (op.type == kDeleteVar && is_inside(program_, of_var, block));
  }

  void check_slots(const Op& op, const OpDef& def) const {
    const bool variadic = !def.inputs.empty() && variadic_slot(def.inputs.back());
    check(op.in.size() <= def.inputs.size() || variadic, "has ", op.in.size(), " inputs, takes ", def.inputs.size());
    for (std::size_t slot = 0; slot < def.inputs.size(); ++slot) {
      const bool given = slot < op.in.size() && op.in[slot] != kNone;
      check(given || optional_slot(def.inputs[slot]) || variadic_slot(def.inputs[slot]), "input '", def.inputs[slot],
            "' is missing");
    }
    for (std::size_t slot = def.inputs.size() - 1; variadic && slot < op.in.size(); ++slot)
      check(op.in[slot] != kNone, "one of the inputs '", def.inputs.back(), "' is missing");
    const bool variadic_out = !def.outputs.empty() && variadic_slot(def.outputs.back());
    check(op.out.size() == def.outputs.size() || variadic_out, "has ", op.out.size(), " outputs, gives ",
          def.outputs.size());
  }

  /// What a loop carries is there before its first trip, what a branch gives after it.
  void begin_carried(const Op& op, BlockId block) {
    const std::size_t carried = std::min(loop_carried(program_, op), op.out.size());
    for (std::size_t i = 0; i < carried; ++i) {
      const Var& var = program_.vars[op.out[i]];
      check(!written_[op.out[i]], "writes '", var.name, "' a second time");
      check(var.block == block && var.kind == Kind::Temp, "'", var.name, "' is not a temp of block ", block);
      written_[op.out[i]] = op.type == kWhile;
    }
  }

  /// A control-flow op lists every outer var that its blocks touch.
  void check_blocks(const Op& op, BlockId block) {
    for (const BlockId body : op.blocks) {
      check(body > 0 && body < static_cast<BlockId>(program_.blocks.size()), "block ", body, " does not exist");
      check(program_.blocks[body].parent == block, "block ", body, " has parent ", program_.blocks[body].parent,
            ", expected ", block);
      check(!is_used_[body], "block ", body, " belongs to another op already");
      is_used_[body] = true;
    }
    check(op.blocks.empty() || !op_def(op.type).infer, "takes no blocks");
    begin_carried(op, block);
    for (const BlockId body : op.blocks) {
      for (const VarId v : program_.blocks[body].results) check_listed(op, body, v, true);
      for (const Op& inner : program_.blocks[body].ops) {
        for (const VarId v : inner.in)
          if (v != kNone) check_listed(op, body, v, true);
        for (const VarId v : inner.out) check_listed(op, body, v, false);
      }
      check_block(body);
    }
  }

  void check_listed(const Op& op, BlockId body, VarId v, bool reads) const {
    check_id(v, "a var of a block");
    if (is_inside(program_, program_.vars[v].block, body) || contains(op.out, v)) return;
    check(contains(op.in, v), "block ", body, " touches '", name(v),
          "', which the op lists neither in its inputs nor in its outputs");
    check(reads, "block ", body, " writes '", name(v), "', which the op does not list in its outputs");
  }

  void check_write(const Op& op, const OpDef& def, std::size_t slot) {
    const VarId v = op.out[slot];
    const Kind kind = program_.vars[v].kind;
    check(kind != Kind::Input, "writes the input '", name(v), "'");
    const bool in_place = def.updates && slot < op.in.size() && op.in[slot] == v;
    if (is_persistable(kind)) {
      check(in_place || (!op.blocks.empty() && contains(op.in, v)), "writes ", name_of(kind), " '", name(v),
            "' without updating it in place");
    } else {
      check(in_place || !op.blocks.empty() || !written_[v], "writes '", name(v), "' a second time");
    }
    check(!def.updates || kind != Kind::Temp || !shown_[v], "writes '", name(v), "', which is or has a view");
    written_[v] = true;
  }

  void check_types(const Op& op, const OpDef& def) const {
    if (!def.infer) return;  // control flow: its blocks say it
    const std::vector<Type> types = def.infer({program_, op});
    check(types.size() == op.out.size(), "has ", op.out.size(), " outputs, its shape rule gives ", types.size());
    for (std::size_t slot = 0; slot < types.size(); ++slot) {
      const Var& var = program_.vars[op.out[slot]];
      if (var.shape != types[slot].shape || var.dtype != types[slot].dtype)  // texts take longer than all else here
        fail("'", var.name, "' is ", text_of(var), ", its shape rule gives ", name_of(types[slot].dtype),
             text_of(types[slot].shape));
    }
  }

  void check_id(VarId v, const char* what) const {
    check(v >= 0 && v < static_cast<VarId>(program_.vars.size()), what, " has id ", v, ", there are ",
          program_.vars.size(), " vars");
  }
  const std::string& name(VarId v) const { return program_.vars[v].name; }

  const Program& program_;
  std::vector<bool> written_;
  std::vector<bool> shown_;     // views, and what they show
  std::vector<VarId> same_as_;  // by VarId: what it is under another shape, at last
  std::vector<bool> is_part_;   // by VarId: of a wider var
  std::vector<bool> is_used_;   // blocks
  struct Begun {
    BlockId block;
    std::vector<VarId> all;
  };
  std::map<VarId, Begun> under_way_;  // what ranks have begun to exchange: where, and with what else
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

void verify_after(const char* pass, const Program& program) {
  if (kChecksPasses) with_context(message("after ", pass), [&] { verify(program); });
}

}  // namespace lethe
