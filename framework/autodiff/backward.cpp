#include "framework/autodiff/backward.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/views.h"

namespace lethe {

Backward::Backward(Program& program, std::vector<bool> needs)
    : program_(program),
      needs_(std::move(needs)),
      given_(program.vars.size()),
      memory_of_(view_root(program)),
      stash_(program) {
  frames_.push_back({.direct = true});
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (copies_kept(program, op))
        copies_.emplace(op.out[0], op);
      else if (op_def(op.type).updates)
        copies_.erase(op.out[0]);  // it is more than a copy
}

void Backward::run() {
  walk(program_.blocks[0].ops);
  stash_.finish();
  list_outer_vars(program_, 0);
}

/// `forward` is a copy: rules append to the block.
void Backward::walk(std::vector<Op> forward) {
  for (auto op = forward.rbegin(); op != forward.rend(); ++op) {
    note_writes(*op);
    if (op->role != Role::Forward) continue;
    if (op->type == kWhile)
      differentiate_loop(*op);
    else if (op->type == kIf)
      differentiate_branch(*op);
    else
      differentiate(*op);
  }
}

/// Whoever writes, and whether or not it leads to the loss: the gradients of ops before this one find its results.
void Backward::note_writes(const Op& op) {
  const bool updates = !op.blocks.empty() || op_def(op.type).updates;
  for (std::size_t i = loop_carried(program_, op); updates && i < op.out.size(); ++i)
    written_later_.insert(memory_of_[op.out[i]]);
}

void Backward::differentiate(const Op& op) {
  const OpDef& def = op_def(op.type);
  std::vector<bool> wants;
  for (const VarId v : op.in) wants.push_back(v != kNone && needs_[v]);
  if (std::find(wants.begin(), wants.end(), true) == wants.end() || !leads_to_loss(op)) return;
  std::vector<VarId> dy(op.out.size(), kNone);
  if (!def.updates)  // whose gradient stays in the accumulator
    std::transform(op.out.begin(), op.out.end(), dy.begin(), [this](VarId v) { return take(v); });
  check(def.grad, "op '", op.type, "' has no gradient (needed for '", program_.vars[op.out.front()].name, "')");
  GradBuilder rule(program_, here(), op, dy, wants, this);
  check(!has_relu(op.attrs), "op '", op.type, "' has an activation, of which its gradient knows nothing");
  with_context(message("gradient of ", op.type), [&] { def.grad(rule); });
  for (std::size_t slot = 0; slot < op.in.size(); ++slot) give(op.in[slot], rule.dx()[slot]);
}

/// An array of an outer block may be given something by trips that are still to come.
bool Backward::leads_to_loss(const Op& op) const {
  return std::any_of(op.out.begin(), op.out.end(),
                     [&](VarId v) { return needs_[v] && (!given_[v].empty() || home_of(v) + 1 < frames_.size()); });
}

std::size_t Backward::home_of(VarId var) const {
  for (std::size_t f = frames_.size(); f-- > 1;) {
    const std::vector<VarId>& carried = frames_[f].carried;
    if (stash_.block_of(var) == frames_[f].forward || std::find(carried.begin(), carried.end(), var) != carried.end())
      return f;
  }
  return 0;
}

VarId Backward::value(VarId forward) {
  if (forward == kNone) return kNone;
  grow();  // rules hand in what they made, too
  const std::size_t home = home_of(forward);
  Frame& frame = frames_[home];
  if (const auto copy = copies_.find(forward); copy != copies_.end()) {
    VarId& again = frame.kept.try_emplace(forward, kNone).first->second;
    if (again == kNone)
      again = append(frame.grad, copy->second.type, {as_left(copy->second.in[0])}, copy->second.attrs,
                     program_.vars[forward].name);
    return again;
  }
  if (frame.direct || stash_.is_hoisted(forward)) return as_left(forward);
  check_unwritten(forward, forward);  // of a view there is a copy
  if (!frame.carried.empty() && forward == frame.carried.front()) return frame.index;
  if (const auto found = frame.kept.find(forward); found != frame.kept.end()) return found->second;
  std::vector<StashLoop> loops;
  std::size_t direct = home;
  for (; !frames_[direct].direct; --direct)
    if (const Frame& f = frames_[direct]; f.max_trips > 0)
      loops.insert(loops.begin(), {f.max_trips, f.carried.front(), f.index});
  if (loops.empty() && stash_.can_hoist(forward)) {
    stash_.hoist(forward, frames_[direct].forward);
    return as_left(forward);
  }
  const bool is_carried = program_.vars[forward].block != frame.forward;
  const bool at_begin = is_carried && (frame.repeats || !is_updated(frame.forward, forward));
  const VarId stash = stash_.keep(forward, loops, frames_[direct + 1].owner, frame.forward, at_begin);
  if (loops.empty()) return frame.kept[forward] = stash;
  std::vector<VarId> read = {stash};
  for (const StashLoop& loop : loops) read.push_back(loop.backward);
  return frame.kept[forward] = append(frame.grad, kArrayRead, read, {}, program_.vars[forward].name + "@KEPT");
}

VarId Backward::as_left(VarId var) const {
  check_unwritten(var, memory_of_[var]);
  return var;
}

void Backward::check_unwritten(VarId var, VarId memory) const {
  check(written_later_.count(memory) == 0, "backward needs '", program_.vars[var].name,
        "' as it was before it is written again; read it when it is complete");
}

/// Whether an op of the block, or one within it, changes the var in place.
bool Backward::is_updated(BlockId block, VarId var) const {
  const std::vector<Op>& ops = program_.blocks[block].ops;
  return std::any_of(ops.begin(), ops.end(),
                     [&](const Op& op) { return std::find(op.out.begin(), op.out.end(), var) != op.out.end(); });
}

void Backward::give(VarId var, VarId gradient) {
  if (gradient == kNone) return;
  var = source_of(var);
  const Var& like = program_.vars[var];
  if (const DType wide = gradient_dtype(like); like.kind == Kind::Param && program_.vars[gradient].dtype != wide)
    gradient = append(here(), kCast, {gradient}, {{"dtype", std::string(name_of(wide))}}, like.name + "@GRAD");
  if (home_of(var) + 1 == frames_.size()) {
    given_[var].push_back(gradient);
    return;
  }
  const VarId sum = accumulator(var);
  append(here(), kArrayAdd, {sum, gradient}, {}, program_.vars[var].name + "@GRAD");
}

/// What a repeated body reads of outer blocks is a kept value; its gradient is that of the forward var.
VarId Backward::source_of(VarId var) const {
  const auto source = sources_.find(var);
  return source == sources_.end() ? var : source_of(source->second);
}

VarId Backward::accumulator(VarId forward) {
  forward = source_of(forward);
  const BlockId block = frames_[home_of(forward)].grad;
  const auto known = accumulators_.find(forward);
  if (known == accumulators_.end()) {
    const std::string name = program_.vars[forward].name + "@GRAD";
    const VarId first = sum(forward, block);
    const VarId made = first == kNone ? zeros_like(forward, block) : append(block, kAssign, {first}, {}, name);
    accumulators_[forward] = made;
    given_[forward] = {made};
    return made;
  }
  const VarId sum = known->second;
  for (const VarId more : std::vector<VarId>(given_[forward]))
    if (more != sum) append(block, kArrayAdd, {sum, more}, {}, program_.vars[forward].name + "@GRAD");
  given_[forward] = {sum};
  return sum;
}

VarId Backward::take(VarId var) {
  const VarId gradient = sum(var, here());
  given_[var].clear();
  accumulators_.erase(var);
  return gradient;
}

VarId Backward::taken(VarId forward) {
  forward = source_of(forward);
  const bool is_here = home_of(forward) + 1 == frames_.size();
  return is_here && accumulators_.count(forward) == 0 ? take(forward) : kNone;
}

/// Operands stand in the order in which the walk met the readers: last reader first.
VarId Backward::sum(VarId var, BlockId block) {
  const std::vector<VarId>& given = given_[var];
  if (given.empty()) return kNone;
  return given.size() == 1 ? given.front() : append(block, kSum, given, {}, program_.vars[var].name + "@GRAD");
}

VarId Backward::append(BlockId block, const std::string& type, std::vector<VarId> in, Attrs attrs,
                       const std::string& name) {
  const VarId made = append_op(program_, block, Role::Backward, type, std::move(in), std::move(attrs), name).front();
  grow();
  return made;
}

void Backward::grow() {
  given_.resize(program_.vars.size());
  needs_.resize(program_.vars.size());
  while (memory_of_.size() < program_.vars.size()) memory_of_.push_back(static_cast<VarId>(memory_of_.size()));
}

VarId Backward::zeros_like(VarId var, BlockId block) {
  const Var like = program_.vars[var];
  const Attrs zero{{"shape", like.shape}, {"dtype", std::string(name_of(gradient_dtype(like)))}, {"value", 0.0}};
  return append(block, kFillConstant, {}, zero, like.name + "@GRAD");
}

BlockId Backward::add_block() {
  program_.blocks.push_back({.parent = here()});
  return static_cast<BlockId>(program_.blocks.size()) - 1;
}

}  // namespace lethe
