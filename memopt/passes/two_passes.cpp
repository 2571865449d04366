#include "memopt/passes/two_passes.h"

#include <algorithm>
#include <map>

#include "framework/error.h"
#include "framework/language/clone.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_facts.h"

namespace lethe {
namespace {

using Ops = std::vector<Op>;

constexpr const char* kSecondPass = "@PASS2";

/// Where the op that reads all gradients stands; at the end: there is none.
std::size_t reader_of_all(const Ops& ops) {
  const auto found = std::ranges::find_if(ops, [](const Op& op) { return op_def(op.type).all_gradients != nullptr; });
  return static_cast<std::size_t>(found - ops.begin());
}

/// The first of its inputs that are gradients.
std::size_t first_gradient(const Op& op) { return op_def(op.type).inputs.size() - 1; }

/// By position: the ops, beside the forward ones, that lead to the gradients which op `reader` reads.
std::vector<bool> leading_to_gradients(const Program& program, std::size_t reader) {
  const Ops& ops = program.blocks[0].ops;
  std::vector<bool> needed(program.vars.size()), leads(ops.size());
  for (std::size_t slot = first_gradient(ops[reader]); slot < ops[reader].in.size(); ++slot)
    needed[ops[reader].in[slot]] = true;
  for (std::size_t i = reader; i-- > 0;) {
    const Op& op = ops[i];
    if (op.role == Role::Forward || std::ranges::none_of(op.out, [&](VarId v) { return needed[v]; })) continue;
    leads[i] = true;
    for (const auto* vars : {&op.in, &op.out})
      for (const VarId v : *vars)
        if (v != kNone) needed[v] = true;
  }
  return leads;
}

/// What one of these ops changes although none of them has made it; kNone: nothing.
VarId changed_of_others(const Program& program, const std::vector<bool>& leads) {
  const Ops& ops = program.blocks[0].ops;
  std::vector<bool> made(program.vars.size());  // of others
  for (std::size_t v = 0; v < made.size(); ++v) made[v] = program.vars[v].kind != Kind::Temp;
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const VarId v : ops[i].out) {
      if (!leads[i]) made[v] = true;
      if (leads[i] && made[v]) return v;
    }
  return kNone;
}

/// Writes ops once more, with vars of their own for all that they make.
class Copying {
 public:
  explicit Copying(Program& program) : program_(program) {}

  VarId now(VarId v) const {
    const auto copy = copies_.find(v);
    return copy == copies_.end() ? v : copy->second;
  }

  Op copied(Op op, BlockId block) {
    for (VarId& v : op.in) v = now(v);
    for (VarId& v : op.out) v = made(v, block);
    for (BlockId& body : op.blocks) body = copied_block(body, block);
    return op;
  }

 private:
  VarId made(VarId v, BlockId block) {
    const auto [copy, is_new] = copies_.try_emplace(v, kNone);
    if (is_new) copy->second = clone_var(program_, v, block, kSecondPass);
    return copy->second;
  }

  BlockId copied_block(BlockId from, BlockId parent) {
    const auto to = static_cast<BlockId>(program_.blocks.size());
    program_.blocks.push_back({.parent = parent});
    const Block body = program_.blocks[from];
    for (const Op& op : body.ops) {
      Op copy = copied(op, to);
      program_.blocks[to].ops.push_back(std::move(copy));
    }
    for (const VarId v : body.results) program_.blocks[to].results.push_back(now(v));
    return to;
  }

  Program& program_;
  std::map<VarId, VarId> copies_;
};

/// The same op, given the digests of gradients, which are made before it.
Op given_digests(Program& program, Op op) {
  for (std::size_t slot = first_gradient(op); slot < op.in.size(); ++slot)
    op.in[slot] = append_op(program, 0, op.role, op_def(op.type).all_gradients->digest, {op.in[slot]}, {},
                            program.vars[op.in[slot]].name + "/digest")
                      .front();
  op.attrs.set("dtype", std::string(name_of(program.vars[op.out[0]].dtype)));
  return op;
}

}  // namespace

std::string why_no_two_passes(const Program& program) {
  const Ops& ops = program.blocks[0].ops;
  if (std::ranges::any_of(ops, exchanges))
    return "`clip_passes` 2 is for one rank: ranks would exchange all gradients twice";
  const std::size_t reader = reader_of_all(ops);
  if (reader == ops.size() || !op_def(ops[reader].type).all_gradients->why_wait(ops[reader]))
    return "`clip_passes` 2 needs `clip_norm` or `dtype` f16: no update waits for all gradients";
  const auto backward = std::ranges::find(ops, Role::Backward, &Op::role);
  if (std::any_of(backward, ops.end(), [](const Op& op) { return op.role == Role::Forward; }))
    return "`clip_passes` 2 is for a batch in one part: the sums over parts stand until the last part in any case";
  const VarId changed = changed_of_others(program, leading_to_gradients(program, reader));
  return changed == kNone ? ""
                          : message("`clip_passes` 2: backward changes '", program.vars[changed].name,
                                    "', which it does not make, and would do so twice");
}

Program two_passes(Program program) {
  const std::string why_not = why_no_two_passes(program);
  check(why_not.empty(), why_not);
  const std::size_t reader = reader_of_all(program.blocks[0].ops);
  const std::vector<bool> leads = leading_to_gradients(program, reader);
  const Ops before = std::move(program.blocks[0].ops);
  Ops& ops = program.blocks[0].ops = Ops(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(reader));
  Op of_all = given_digests(program, before[reader]);
  ops.push_back(std::move(of_all));
  Copying copying(program);
  for (std::size_t i = 0; i < reader; ++i) {
    if (!leads[i]) continue;
    Op copy = copying.copied(before[i], 0);  // which may move all blocks
    program.blocks[0].ops.push_back(std::move(copy));
  }
  for (std::size_t i = reader + 1; i < before.size(); ++i) {
    Op op = before[i];
    if (const int gradient = op_def(op.type).gradient; gradient >= 0) op.in[gradient] = copying.now(op.in[gradient]);
    program.blocks[0].ops.push_back(std::move(op));
  }
  list_outer_vars(program, 0);
  return program;
}

}  // namespace lethe
