#include "framework/micro_batches.h"

#include <map>
#include <set>

#include "framework/clone.h"
#include "framework/control_flow.h"
#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/verify.h"
#include "framework/views.h"

namespace lethe {
namespace {

/// What the parts give, summed along a binary tree whose leaves are the parts: two sums of equally many parts are added
/// as soon as both are there, and what is left at the end from the last to the first.
class TreeSum {
 public:
  /// Of one part more: what is to be added to its value, in this order, for the sums that become complete.
  std::vector<VarId> due(bool last) const {
    std::vector<VarId> operands;
    std::size_t open = pending_.size();
    for (std::int64_t size = 1; open > 0 && (last || pending_[open - 1].parts == size); size *= 2)
      operands.push_back(pending_[--open].sum);
    return operands;
  }
  /// Notes the sum of that value with all that was due.
  void take(VarId sum, std::size_t added) {
    std::int64_t parts = 1;
    for (; added > 0; --added) {
      parts += pending_.back().parts;
      pending_.pop_back();
    }
    pending_.push_back({sum, parts});
  }
  VarId sum() const { return pending_.front().sum; }

 private:
  struct Pending {
    VarId sum;
    std::int64_t parts;
  };
  std::vector<Pending> pending_;  // of more parts before fewer
};

class Expansion {
 public:
  Expansion(NetworkWithGradients part, std::int64_t parts)
      : whole_(std::move(part)), program_(whole_.network.program), parts_(parts), roots_(view_root(program_)) {}

  NetworkWithGradients run() && {
    part_ = std::move(program_.blocks[0].ops);
    program_.blocks[0].ops.clear();
    bodies_.assign(program_.blocks.begin() + 1, program_.blocks.end());
    for (const VarId input : whole_.network.inputs) make_whole(input);
    for (const Op& op : part_)
      if (op_def(op.type).over_batch) over_batch(op);
    find_read();
    find_ending();
    for (std::int64_t p = 0; p < parts_; ++p) add_part(p);
    finish();
    return std::move(whole_);
  }

 private:
  /// The input becomes that of the whole batch.
  void make_whole(VarId input) {
    Shape& shape = program_.vars[input].shape;
    part_shapes_[input] = shape;
    shape[0] *= parts_;
  }

  /// Runs it once, on what is fed, before all parts; each reads its range of the outputs.
  void over_batch(Op op) {
    const VarId fed = roots_[op.in[0]];
    check(program_.vars[fed].kind == Kind::Input && op.in.size() == 1, "a batch in parts: ", op.type, " of '",
          program_.vars[op.in[0]].name, "' looks at all samples at once, which must be fed as they are");
    op.in = {fed};
    for (const VarId v : op.out) {
      part_shapes_[v] = program_.vars[v].shape;
      program_.vars[v].shape = program_.vars[fed].shape;
    }
    program_.blocks[0].ops.push_back(std::move(op));
  }

  void find_read() {
    const auto look_at = [&](const std::vector<Op>& ops) {
      for (const Op& op : ops)
        for (const VarId v : op.in)
          if (!op_def(op.type).over_batch && part_shapes_.count(v) != 0) read_.insert(v);
    };
    look_at(part_);
    for (const Block& body : bodies_) look_at(body.ops);
  }

  void add_part(std::int64_t p) {
    number_ = p;
    now_.assign(roots_.size(), kNone);
    for (const VarId v : read_) now_[v] = slice(v);
    for (std::size_t i = 0; i < part_.size(); ++i) {
      if (op_def(part_[i].type).over_batch) continue;
      Op op = copied(part_[i], 0);
      program_.blocks[0].ops.push_back(std::move(op));
      for (const ParamGrad& gradient : ending_[i]) add_up(gradient.grad, program_.vars[gradient.param].name, "@GRAD");
    }
    const Network& network = whole_.network;
    add_up(network.loss, program_.vars[network.loss].name);
    if (network.correct != kNone) corrects_.push_back(current(network.correct));
  }

  void find_ending() {
    std::vector<std::size_t> last(roots_.size());
    for (std::size_t i = 0; i < part_.size(); ++i)
      for (const VarId v : part_[i].out) last[roots_[v]] = i;
    ending_.resize(part_.size());
    std::set<VarId> listed;
    for (const ParamGrad& gradient : whole_.gradients)
      if (listed.insert(gradient.grad).second) ending_[last[roots_[gradient.grad]]].push_back(gradient);
  }

  /// The part's range of a var of the whole batch, in the shape that it had in the part.
  VarId slice(VarId var) {
    const std::string name = program_.vars[var].name + behind_names();
    Shape shape = program_.vars[var].shape;
    const std::int64_t size = shape[0] /= parts_;
    const VarId part =
        append(kSlice, {var}, {{"axis", 0}, {"begin", number_ * size}, {"end", (number_ + 1) * size}}, name);
    const Shape& before = part_shapes_[var];
    return shape == before ? part : append(kReshape, {part}, {{"shape", before}}, name + "/view");
  }

  VarId append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name,
               Role role = Role::Forward) {
    return append_op(program_, 0, role, type, std::move(in), std::move(attrs), name).front();
  }

  std::string behind_names() const { return message("@PART", number_ + 1); }

  /// What `var` of the given program is in this part.
  VarId current(VarId var) const { return var == kNone || now_[var] == kNone ? var : now_[var]; }

  /// Of the first part the op itself; of any other with vars of its own.
  Op copied(Op op, BlockId block) {
    for (VarId& v : op.in) v = current(v);
    for (VarId& v : op.out) v = written(v, block);
    if (op_def(op.type).draws && number_ > 0)
      op.attrs.set(kFirstElement, number_ * elements(program_.vars[op.out[0]].shape));
    for (BlockId& body : op.blocks) body = copied_block(body, block);
    return op;
  }

  VarId written(VarId v, BlockId block) {
    if (number_ == 0 || is_persistable(program_.vars[v].kind)) return v;
    if (now_[v] == kNone) now_[v] = clone_var(program_, v, block, behind_names());
    return now_[v];
  }

  BlockId copied_block(BlockId from, BlockId parent) {
    BlockId to = from;
    if (number_ > 0) {
      to = static_cast<BlockId>(program_.blocks.size());
      program_.blocks.push_back({.parent = parent});
    }
    const Block& body = bodies_[from - 1];
    std::vector<Op> ops;
    for (const Op& op : body.ops) ops.push_back(copied(op, to));
    std::vector<VarId> results;
    for (const VarId v : body.results) results.push_back(current(v));
    program_.blocks[to].ops = std::move(ops);
    program_.blocks[to].results = std::move(results);
    return to;
  }

  /// Of role Optimize, as what follows from the gradients: it goes wherever updates go.
  void add_up(VarId var, const std::string& name, const char* behind = "") {
    TreeSum& sum = sums_[var];
    VarId value = current(var);
    const std::vector<VarId> due = sum.due(number_ + 1 == parts_);
    for (const VarId before : due)
      value = append(kSum, {before, value}, {}, message(name, "@SUM", number_ + 1, behind), Role::Optimize);
    sum.take(value, due.size());
  }

  void finish() {
    Network& network = whole_.network;
    for (ParamGrad& gradient : whole_.gradients) gradient.grad = sums_[gradient.grad].sum();
    const Attrs mean{{"a", 1 / static_cast<double>(parts_)}, {"b", 0.0}};
    if (const VarId fed = roots_[network.target]; part_shapes_.count(fed) != 0) network.target = fed;
    const std::string loss = program_.vars[network.loss].name;
    network.loss = append(kScale, {sums_[network.loss].sum()}, mean, loss + "@MEAN", Role::Optimize);
    if (network.correct != kNone) {
      const std::string correct = program_.vars[network.correct].name;
      network.correct = append(kConcat, corrects_, {{"axis", 0}}, correct + "@BATCH", Role::Optimize);
    }
    list_outer_vars(program_, 0);
    verify_after("in_parts", program_);
  }

  NetworkWithGradients whole_;
  Program& program_;
  const std::int64_t parts_;
  const std::vector<VarId> roots_;                   // by VarId of the part
  std::vector<Op> part_ = {};                        // of block 0
  std::vector<Block> bodies_ = {};                   // all other blocks, as given
  std::map<VarId, Shape> part_shapes_ = {};          // what those had that are of the whole batch now
  std::set<VarId> read_ = {};                        // of those: what ops of a part read
  std::vector<std::vector<ParamGrad>> ending_ = {};  // by op: what is complete behind it, each once: params may share
  std::int64_t number_ = 0;                          // of the part, from 0
  std::vector<VarId> now_ = {};                      // by VarId of the part: the var of this part; kNone: itself
  std::map<VarId, TreeSum> sums_ = {};               // by the part's var
  std::vector<VarId> corrects_ = {};
};

}  // namespace

VarId append_loss_share(Program& program, VarId loss, std::int64_t parts, VarId scale) {
  const double share = 1 / static_cast<double>(parts);
  const std::string name = program.vars[loss].name + "@GRAD";
  const auto append = [&](const char* type, std::vector<VarId> in, const Attrs& attrs) {
    return append_op(program, 0, Role::Backward, type, std::move(in), attrs, name).front();
  };
  if (scale != kNone) return append(kScale, {scale}, {{"a", share}, {"b", 0.0}});
  return append(kFillConstant, {},
                {{"shape", Ints{}}, {"dtype", std::string(name_of(program.vars[loss].dtype))}, {"value", share}});
}

NetworkWithGradients in_parts(NetworkWithGradients part, std::int64_t parts) {
  return Expansion(std::move(part), parts).run();
}

}  // namespace lethe
