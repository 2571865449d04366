// The gradient of a loop is a loop over its trips, last one first; that of a branch is a branch. What they give to vars
// of outer blocks is added up in accumulators.
#include <algorithm>
#include <iterator>

#include "framework/autodiff/backward.h"
#include "framework/error.h"
#include "framework/language/clone.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"

namespace lethe {
/// Of what a loop carries, what has a gradient: what was given one, what a trip makes that of, and what it makes arrays
/// of outer blocks of.
std::vector<std::size_t> Backward::carried_to_loss(const Op& op) const {
  const Block& body = program_.blocks[op.blocks[1]];
  const std::size_t carried = loop_carried(program_, op);
  std::set<VarId> leads(op.out.begin() + static_cast<std::ptrdiff_t>(carried), op.out.end());
  for (std::size_t i = 0; i < carried; ++i)
    if (!given_[op.out[i]].empty()) leads.insert(body.results[i]);
  for (std::size_t known = 0; known != leads.size();) {
    known = leads.size();
    for (auto inner = body.ops.rbegin(); inner != body.ops.rend(); ++inner)
      if (std::any_of(inner->out.begin(), inner->out.end(), [&](VarId v) { return leads.count(v) != 0; }))
        std::copy_if(inner->in.begin(), inner->in.end(), std::inserter(leads, leads.end()),
                     [this](VarId v) { return v != kNone && needs_[v]; });
    for (std::size_t i = 0; i < carried; ++i)
      if (leads.count(op.out[i]) != 0) leads.insert(body.results[i]);
  }
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < carried; ++i)
    if (needs_[op.out[i]] && leads.count(body.results[i]) != 0) active.push_back(i);
  return active;
}

void Backward::differentiate_loop(const Op& op) {
  if (!leads_to_loss(op)) return;
  for (const Op& inner : program_.blocks[op.blocks[0]].ops)
    for (const VarId v : inner.out)
      check(!needs_[v] || is_inside(program_, program_.vars[v].block, op.blocks[0]),
            "the condition of a loop changes '", program_.vars[v].name,
            "', whose gradient is needed; change it in the body");
  const std::vector<std::size_t> active = carried_to_loss(op);

  Op grad{.type = kWhile,
          .in = {value(op.out[0])},
          .attrs = {{kMaxTrips, op.attrs.integer(kMaxTrips)}},
          .blocks = {add_block(), add_block()},
          .role = Role::Backward};
  const auto carry = [&](VarId like) {
    const Var var = program_.vars[like];
    grad.out.push_back(add_var(
        program_, {.name = var.name + "@GRAD", .shape = var.shape, .dtype = gradient_dtype(var), .block = here()}));
  };
  carry(op.out[0]);
  for (const std::size_t i : active) {
    const VarId dy = take(op.out[i]);
    grad.in.push_back(dy == kNone ? zeros_like(op.out[i], here()) : dy);
    carry(op.out[i]);
  }
  const std::string name = program_.vars[op.out[0]].name + "@GRAD";
  program_.blocks[grad.blocks[0]].results = {append(grad.blocks[0], "greater", {grad.out[0]}, {{"value", 0}}, name)};
  const VarId index = append(grad.blocks[1], kOffset, {grad.out[0]}, {{"by", -1}}, name);
  program_.blocks[grad.blocks[1]].results = through_body(op, grad, active, index);
  list_outer_vars(program_, grad);
  program_.blocks[here()].ops.push_back(grad);
  for (std::size_t k = 0; k < active.size(); ++k)
    if (const VarId initial = op.in[active[k]]; needs_[initial]) give(initial, grad.out[k + 1]);
}

/// Appends the gradient of the loop's body to that of `grad`; gives what its trips hand on.
std::vector<VarId> Backward::through_body(const Op& op, const Op& grad, const std::vector<std::size_t>& active,
                                          VarId index) {
  const std::size_t carried = loop_carried(program_, op);
  const BlockId body = op.blocks[1];
  frames_.push_back({.forward = body,
                     .grad = grad.blocks[1],
                     .owner = op.blocks[0],
                     .carried = {op.out.begin(), op.out.begin() + static_cast<std::ptrdiff_t>(carried)},
                     .max_trips = op.attrs.integer(kMaxTrips),
                     .repeats = op.attrs.flag(kRecompute, false),
                     .index = index});
  for (const VarId v : frames_.back().carried) written_later_.erase(v);  // after the loop: each trip has its own
  Body trip{.ops = program_.blocks[body].ops, .begins = frames_.back().carried, .ends = program_.blocks[body].results};
  if (frames_.back().repeats) trip = repeat(body, trip);
  for (std::size_t k = 0; k < active.size(); ++k) give(trip.ends[active[k]], grad.out[k + 1]);
  walk(trip.ops);
  std::vector<VarId> next = {index};
  for (const std::size_t i : active) {
    const VarId gradient = trip.begins[i] == kNone ? kNone : take(trip.begins[i]);
    next.push_back(gradient == kNone ? zeros_like(op.out[i], here()) : gradient);
  }
  next = own_memory(std::move(next));
  frames_.pop_back();
  return next;
}

/// Runs the body again in the block of its gradient, from what the trip began with, and goes on there, where all its
/// values are at hand.
Backward::Body Backward::repeat(BlockId body, const Body& trip) {
  std::map<VarId, VarId> copy_of;
  std::set<VarId> read;
  for (const Op& op : trip.ops) read.insert(op.in.begin(), op.in.end());
  Body again;
  for (const VarId begin : trip.begins) {
    VarId& copy = again.begins.emplace_back(kNone);
    if (read.count(begin) == 0) continue;
    copy = copy_of[begin] = value(begin);
    needs_[copy] = needs_[begin];
  }
  const BlockId grad = here();
  again.ops = repeat_ops(body, body, grad, copy_of);
  for (const VarId end : trip.ends) again.ends.push_back(copy_of.at(end));
  frames_.pop_back();
  frames_.push_back({.forward = grad, .grad = grad, .direct = true});
  return again;
}

/// Copies the ops of block `from`, which is `body` or lies in it, into `to`. What they update outside of the body, but
/// for what is carried, is not updated again; those ops are given, for their gradients, but not appended.
std::vector<Op> Backward::repeat_ops(BlockId body, BlockId from, BlockId to, std::map<VarId, VarId>& copy_of) {
  std::vector<Op> repeated;
  const std::vector<Op> ops = program_.blocks[from].ops;
  for (Op op : ops) {
    if (op.role != Role::Forward) continue;
    const bool updates_outer = op_def(op.type).updates && copy_of.count(op.out[0]) == 0 &&
                               !is_inside(program_, program_.vars[op.out[0]].block, body);
    if (updates_outer && from != body)
      fail("recompute: '", program_.vars[op.out[0]].name,
           "' is changed by a block within the loop's body, which cannot run again");
    // What blocks within a loop or a branch update once: the copies do not.
    const auto is_left = [&](VarId v) { return !op.blocks.empty() && program_.vars[v].kind == Kind::State; };
    for (VarId& v : op.in) {
      const auto copy = copy_of.find(v);
      if (copy != copy_of.end())
        v = copy->second;
      else if (!is_left(v) && (!updates_outer || v != op.out[0]))
        v = outer_value(v);
    }
    if (updates_outer) {
      repeated.push_back(std::move(op));
      continue;
    }
    for (VarId& v : op.out)
      if (!is_left(v)) v = repeat_var(v, to, copy_of);
    for (BlockId& block : op.blocks) {
      program_.blocks.push_back({.parent = to});
      const auto copied = static_cast<BlockId>(program_.blocks.size()) - 1;
      repeat_ops(body, block, copied, copy_of);
      for (const VarId result : std::vector<VarId>(program_.blocks[block].results))
        program_.blocks[copied].results.push_back(copy_of.at(result));
      block = copied;
    }
    if (!op.blocks.empty()) list_outer_vars(program_, op);
    program_.blocks[to].ops.push_back(op);
    repeated.push_back(std::move(op));
  }
  return repeated;
}

/// As `value`; gradients that are given to it are the var's.
VarId Backward::outer_value(VarId var) {
  const VarId kept = value(var);
  if (kept == var) return var;
  grow();
  needs_[kept] = needs_[var];
  sources_[kept] = var;
  return kept;
}

/// An array that is changed in place has its copy already.
VarId Backward::repeat_var(VarId var, BlockId block, std::map<VarId, VarId>& copy_of) {
  if (const auto copy = copy_of.find(var); copy != copy_of.end()) return copy->second;
  const VarId made = copy_of[var] = clone_var(program_, var, block);
  grow();
  needs_[made] = needs_[var];
  if (const auto shown = copy_of.find(memory_of_[var]); shown != copy_of.end()) memory_of_[made] = shown->second;
  return made;
}

/// As results of the block that is being made: temps of it, each with memory of its own.
std::vector<VarId> Backward::own_memory(std::vector<VarId> results) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!has_own_memory(program_, here(), results, i))
      results[i] = append(here(), kAssign, {results[i]}, {}, program_.vars[results[i]].name + "@GRAD");
  return results;
}

void Backward::differentiate_branch(const Op& op) {
  if (!leads_to_loss(op)) return;
  const std::size_t results = loop_carried(program_, op);
  std::vector<VarId> dy;
  for (std::size_t i = 0; i < results; ++i) dy.push_back(take(op.out[i]));
  Op grad{.type = kIf, .blocks = {add_block(), add_block()}, .role = Role::Backward};
  for (std::size_t side = 0; side < 2; ++side) {
    const Block forward = program_.blocks[op.blocks[side]];
    frames_.push_back({.forward = op.blocks[side], .grad = grad.blocks[side], .owner = op.blocks[0]});
    for (std::size_t i = 0; i < results; ++i) give(forward.results[i], dy[i]);
    walk(forward.ops);
    frames_.pop_back();
  }
  if (program_.blocks[grad.blocks[0]].ops.empty() && program_.blocks[grad.blocks[1]].ops.empty()) {
    program_.blocks.resize(static_cast<std::size_t>(grad.blocks[0]));  // nothing was added after the two
    return;
  }
  grad.in = {value(op.in[0])};
  list_outer_vars(program_, grad);
  program_.blocks[here()].ops.push_back(std::move(grad));
}

}  // namespace lethe
