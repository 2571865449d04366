#include "framework/ranks/micro_batches.h"

#include <algorithm>
#include <map>
#include <set>

#include "framework/error.h"
#include "framework/language/clone.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "framework/language/views.h"
#include "framework/ranks/across_ranks.h"
#include "framework/ranks/part_sums.h"
#include "framework/ranks/tree_sum.h"
#include "framework/ranks/trip_updates.h"

namespace lethe {
namespace {

class Expansion {
 public:
  Expansion(NetworkWithGradients part, std::vector<NotedUpdate> of_trips, const Shards& shards)
      : whole_(std::move(part)),
        program_(whole_.network.program),
        shards_(shards),
        across_(program_, shards.rank, shards.bucket, shards.zero >= 2),
        roots_(view_root(program_)),
        of_trips_(std::move(of_trips)),
        sums_(program_, shards) {}

  NetworkWithGradients run() && {
    part_ = std::move(program_.blocks[0].ops);
    program_.blocks[0].ops.clear();
    bodies_.assign(program_.blocks.begin() + 1, program_.blocks.end());
    for (const VarId input : whole_.network.inputs) make_whole(input);
    for (const Op& op : part_)
      if (op_def(op.type).over_batch) over_batch(op);
    find_read();
    find_ending();
    now_.assign(static_cast<std::size_t>(shards_.own()), std::vector<VarId>(roots_.size(), kNone));
    for (std::size_t begin = 0; begin <= part_.size();) {
      std::size_t end = begin;
      while (end < part_.size() && part_[end].type != kSumOverParts) ++end;
      for (number_ = 0; number_ < shards_.own(); ++number_) add_part(begin, end);
      if (end < part_.size()) sum_over_parts(part_[end]);
      begin = end + 1;
    }
    finish();
    return std::move(whole_);
  }

 private:
  /// The input becomes that of all parts of this rank.
  void make_whole(VarId input) {
    Shape& shape = program_.vars[input].shape;
    part_shapes_[input] = shape;
    shape[0] *= shards_.own();
  }

  /// Runs it once, on what is fed first and States beside that, before all parts; each reads its range of the outputs.
  void over_batch(Op op) {
    const VarId fed = roots_[op.in[0]];
    const bool of_states =
        std::all_of(op.in.begin() + 1, op.in.end(), [&](VarId v) { return program_.vars[v].kind == Kind::State; });
    check(program_.vars[fed].kind == Kind::Input && of_states, "a batch in parts: ", op.type, " of '",
          program_.vars[op.in[0]].name, "' looks at all samples at once, which must be fed as they are");
    op.in[0] = shards_.rank.of > 1 ? across_.gather(fed) : fed;
    for (const VarId v : op.out) {
      part_shapes_[v] = program_.vars[v].shape;
      program_.vars[v].shape = program_.vars[op.in[0]].shape;
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

  /// The ops [begin, end) of a part.
  void add_part(std::size_t begin, std::size_t end) {
    for (const VarId v : read_)
      if (begin == 0) now()[v] = slice(v);
    for (std::size_t i = begin; i < end; ++i) {
      const bool joint = is_joint(part_[i]);
      if (op_def(part_[i].type).over_batch || (joint && number_ > 0)) continue;
      if (joint) joint_.insert(part_[i].out.begin(), part_[i].out.end());
      Op op = copied(part_[i], 0);
      if (shards_.rank.of > 1 && !joint && updates_state(program_, op))
        late_.push_back({std::move(op)});
      else
        program_.blocks[0].ops.push_back(std::move(op));
      for (const ParamGrad& gradient : ending_[i]) {
        const std::string name = message(program_.vars[gradient.param].name, sum_suffix(), "@GRAD");
        sums_.add_gradient(gradient.grad, current(gradient.grad), name, is_last());
        if (shards_.rank.of > 1 && is_last()) across_.sum(sums_.of(gradient.grad));
      }
    }
    if (end < part_.size()) return;
    for (const NotedUpdate& noted : of_trips_) late_.push_back({copied(noted.op, 0), current(noted.runs), noted.most});
    const Network& network = whole_.network;
    sums_.add_up(network.loss, current(network.loss), program_.vars[network.loss].name + sum_suffix(), is_last());
    if (network.correct != kNone) corrects_.push_back(current(network.correct));
  }

  /// What all parts have come to so far they go on with together.
  void sum_over_parts(const Op& op) {
    TreeSum sum;
    for (number_ = 0; number_ < shards_.own(); ++number_)
      sums_.add_to(sum, current(op.in[0]), program_.vars[op.in[0]].name + sum_suffix(), is_last());
    const VarId all = shards_.rank.of > 1 ? across_.sum_at_once(sum.sum()) : sum.sum();
    for (std::vector<VarId>& now : now_) now[op.out[0]] = all;
    joint_.insert(op.out[0]);
  }

  /// Whether an op reads, beside params and states, nothing but what is the same in all parts: their sum, or made of
  /// that. It runs once, in the first part.
  bool is_joint(const Op& op) const {
    bool reads = false;
    for (const VarId v : op.in) {
      if (v == kNone || is_persistable(program_.vars[v].kind)) continue;
      if (joint_.count(v) == 0) return false;
      reads = true;
    }
    return reads;
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

  /// The part's range of a var of all parts, or of those of this rank, in the shape that it had in the part.
  VarId slice(VarId var) {
    const std::string name = program_.vars[var].name + suffix();
    const Shape& before = part_shapes_[var];
    Shape shape = program_.vars[var].shape;
    const std::int64_t parts = elements(shape) / elements(before);
    if (parts == 1) return var;
    const std::int64_t size = shape[0] /= parts, number = parts == shards_.parts ? in_batch() : number_;
    const VarId part =
        append(kSlice, {var}, {{"axis", 0}, {"begin", number * size}, {"end", (number + 1) * size}}, name);
    return shape == before ? part : append(kReshape, {part}, {{"shape", before}}, name + "/view");
  }

  VarId append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name,
               Role role = Role::Forward) {
    return append_op(program_, 0, role, type, std::move(in), std::move(attrs), name).front();
  }

  std::string suffix() const { return message("@PART", number_ + 1); }
  std::string sum_suffix() const { return message("@SUM", number_ + 1); }
  bool is_last() const { return number_ + 1 == shards_.own(); }
  /// The part's number in the whole batch.
  std::int64_t in_batch() const { return shards_.rank.number * shards_.own() + number_; }

  /// What `var` of the given program is in this part.
  VarId current(VarId var) const {
    const std::vector<VarId>& now = now_[static_cast<std::size_t>(number_)];
    return var == kNone || now[var] == kNone ? var : now[var];
  }
  std::vector<VarId>& now() { return now_[static_cast<std::size_t>(number_)]; }

  /// Of the first part the op itself; of any other with vars of its own.
  Op copied(Op op, BlockId block) {
    for (VarId& v : op.in) v = current(v);
    for (VarId& v : op.out) v = written(v, block);
    const int step = op_def(op.type).random_step;
    if (step >= 0 && InferArgs{program_, op}.has_in(step) && in_batch() > 0)
      op.attrs.set(kFirstElement, in_batch() * elements(program_.vars[op.out[0]].shape));
    for (BlockId& body : op.blocks) body = copied_block(body, block);
    return op;
  }

  VarId written(VarId v, BlockId block) {
    if (number_ == 0 || is_persistable(program_.vars[v].kind)) return v;
    if (now()[v] == kNone) now()[v] = clone_var(program_, v, block, suffix());
    return now()[v];
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

  /// The sum of the losses of all parts. What changes states is done for all of them, in their order.
  VarId gather_late(VarId own_loss) {
    std::vector<VarId> values = {own_loss};
    for (NotedUpdate& late : late_)
      for (const VarId* v : values_read(program_, late)) values.push_back(*v);
    TreeSum sum;
    const std::vector<std::vector<VarId>> by_rank = across_.gather_each(values);
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      auto value = by_rank[rank].begin();
      const std::string name = message(program_.vars[own_loss].name, "@RANK", rank + 1);
      sums_.add_to(sum, *value++, name, rank + 1 == by_rank.size());
      for (NotedUpdate late : late_) {
        for (VarId* v : values_read(program_, late)) *v = *value++;
        append_noted(program_, late);
      }
    }
    return sum.sum();
  }

  void finish() {
    Network& network = whole_.network;
    VarId loss_sum = sums_.of(network.loss);
    if (shards_.rank.of > 1) loss_sum = gather_late(loss_sum);
    for (ParamGrad& gradient : whole_.gradients) {
      const DType dtype = program_.vars[gradient.grad].dtype;
      gradient.grad = sums_.of(gradient.grad);
      if (shards_.rank.of > 1) gradient.grad = across_.sums().at(gradient.grad);
      gradient.grad = sums_.in_dtype(gradient.grad, dtype);
    }
    const Attrs mean{{"a", 1 / static_cast<double>(shards_.parts)}, {"b", 0.0}};
    if (const VarId fed = roots_[network.target]; part_shapes_.count(fed) != 0) network.target = fed;
    const std::string loss = program_.vars[network.loss].name;
    loss_sum = sums_.in_dtype(loss_sum, program_.vars[network.loss].dtype);
    network.loss = append(kScale, {loss_sum}, mean, loss + "@MEAN", Role::Optimize);
    if (network.correct != kNone) {
      const std::string correct = program_.vars[network.correct].name;
      network.correct = corrects_.size() == 1
                            ? corrects_.front()
                            : append(kConcat, corrects_, {{"axis", 0}}, correct + "@BATCH", Role::Optimize);
    }
    list_outer_vars(program_, 0);
    verify_after("in_parts", program_);
  }

  NetworkWithGradients whole_;
  Program& program_;
  const Shards shards_;
  AcrossRanks across_;
  const std::vector<VarId> roots_;                   // by VarId of the part
  const std::vector<NotedUpdate> of_trips_;          // of the part: what its loops and branches update
  std::vector<Op> part_ = {};                        // of block 0
  std::vector<Block> bodies_ = {};                   // all other blocks, as given
  std::map<VarId, Shape> part_shapes_ = {};          // what those had that are of the whole batch now
  std::set<VarId> read_ = {};                        // of those: what ops of a part read
  std::vector<std::vector<ParamGrad>> ending_ = {};  // by op: what is complete after it, each once: params may share
  std::int64_t number_ = 0;                          // of the part among those of this rank, from 0
  std::vector<std::vector<VarId>> now_ = {};         // by part and VarId: the var of that part; kNone: itself
  std::set<VarId> joint_ = {};                       // of the part: what is the same in all
  PartSums sums_;                                    // by the part's var
  std::vector<VarId> corrects_ = {};
  std::vector<NotedUpdate> late_ = {};  // of all parts: what waits for the values of other ranks
};
}  // namespace

NetworkWithGradients in_parts(NetworkWithGradients part, const Shards& shards) {
  const std::int64_t own = shards.own(), ranks = shards.rank.of;
  for (std::size_t b = 1; b < part.network.program.blocks.size(); ++b)
    for (const Op& op : part.network.program.blocks[b].ops)
      if (op.type == kSumOverParts)
        fail("a batch in parts: '", part.network.program.vars[op.in[0]].name,
             "' is made within a loop or a branch, where parts cannot wait for each other to sum it");
  check(own > 0 && shards.parts % ranks == 0, ranks, " ranks do not divide ", shards.parts, " shards");
  check(ranks == 1 || (own & (own - 1)) == 0, shards.parts, " shards on ", ranks, " ranks are ", own,
        " on each, expected 1, 2, 4, 8...");
  auto noted = ranks > 1 ? note_trip_updates(part.network.program) : std::vector<NotedUpdate>();
  return Expansion(std::move(part), std::move(noted), shards).run();
}

}  // namespace lethe
