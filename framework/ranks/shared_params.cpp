#include "framework/ranks/shared_params.h"

#include <algorithm>
#include <utility>

#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"

namespace lethe {
namespace {

Op gather_op(const char* type, std::vector<VarId> params, const Attrs& attrs) {
  return {.type = type, .in = params, .out = params, .attrs = attrs, .role = Role::Optimize};
}

/// Elements. What is smaller takes about as long to be fetched as nothing at all.
constexpr std::int64_t kLeastShared = 1024;

class SharedParams {
 public:
  SharedParams(Program& program, const std::vector<VarId>& params, Rank rank)
      : program_(program), rank_(rank), gathered_(program.vars.size()) {
    for (const VarId v : params) {
      gathered_[v].shape = std::exchange(program_.vars[v].shape, {});
      program_.vars[v].shape = {size_of_share(elements(gathered_[v].shape), rank.of)};
    }
  }

  void run() {
    std::vector<Op> ops = std::exchange(program_.blocks[0].ops, {});
    for (Op& op : ops) read_gathered(op);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (waited_ < gathers_.size() && gathers_[waited_].before == i) {
        start_next(ops[i].role);  // unless it has begun
        while (waited_ < started_) wait(gathers_[waited_++], ops[i].role);
        start_next(ops[i].role);
      }
      program_.blocks[0].ops.push_back(std::move(ops[i]));
    }
    list_outer_vars(program_, 0);
    verify_after("share_params", program_);
  }

 private:
  /// Of a parameter: its shape, and what those ops read that were looked at last, and in which pass.
  struct Gathered {
    Shape shape = {};  // of one that is not shared none
    VarId var = kNone;
    int pass = 0;
  };
  struct Gather {
    VarId param, pending, whole;
    std::size_t before;  // the op of block 0
  };

  bool is_shared(VarId v) const {
    return v != kNone && static_cast<std::size_t>(v) < gathered_.size() && !gathered_[v].shape.empty();
  }

  void read_gathered(Op& op) {
    const std::size_t position = position_++;
    if (op.role != Role::Optimize && op.role != role_) role_ = op.role, ++pass_;
    if (op_def(op.type).updates && is_shared(op.out[0])) {
      Attrs attrs;
      for (const auto& [key, value] : op.attrs)
        if (key != kRanks && key != kRank) attrs.set(key, value);
      op.attrs = std::move(attrs);
      return;
    }
    for (const VarId v : std::vector<VarId>(op.in))
      if (is_shared(v)) replace(op, v, gathered_for(v, position));
  }

  /// The parameter as ops read it from there on.
  VarId gathered_for(VarId param, std::size_t position) {
    Gathered& last = gathered_[param];
    const bool is_newest = !gathers_.empty() && gathers_.back().param == param;
    if (last.var == kNone || (last.pass != pass_ && !is_newest)) {
      const Var like{
          .name = program_.vars[param].name + "@WHOLE", .shape = last.shape, .dtype = program_.vars[param].dtype};
      Var pending = like;
      pending.name += "/pending";
      gathers_.push_back({param, add_var(program_, pending), add_var(program_, like), position});
      last.var = gathers_.back().whole;
    }
    last.pass = pass_;
    return last.var;
  }

  void replace(Op& op, VarId param, VarId by) {
    std::replace(op.in.begin(), op.in.end(), param, by);
    for (const BlockId body : op.blocks) {
      std::vector<VarId>& results = program_.blocks[body].results;
      std::replace(results.begin(), results.end(), param, by);
      for (Op& inner : program_.blocks[body].ops) replace(inner, param, by);
    }
  }

  /// Begins all that one op reads, unless something is under way.
  void start_next(Role role) {
    if (started_ > waited_ || started_ == gathers_.size()) return;
    const std::size_t before = gathers_[started_].before;
    for (; started_ < gathers_.size() && gathers_[started_].before == before; ++started_)
      start(gathers_[started_], role);
  }
  void start(const Gather& gather, Role role) {
    program_.blocks[0].ops.push_back({.type = kAllGatherStart,
                                      .in = {gather.param},
                                      .out = {gather.pending},
                                      .attrs = {{kRanks, rank_.of}, {"shape", program_.vars[gather.whole].shape}},
                                      .role = role});
  }
  void wait(const Gather& gather, Role role) {
    program_.blocks[0].ops.push_back(
        {.type = kAllGatherWait, .in = {gather.pending}, .out = {gather.whole}, .role = role});
  }

  Program& program_;
  const Rank rank_;
  std::vector<Gathered> gathered_;  // by VarId
  std::vector<Gather> gathers_ = {};
  std::size_t position_ = 0;
  Role role_ = Role::Forward;
  int pass_ = 0;                          // each role of a part of the batch is one
  std::size_t started_ = 0, waited_ = 0;  // gathers
};

}  // namespace

std::vector<VarId> params_to_share(const Program& program) {
  std::vector<VarId> params;
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (program.vars[v].kind == Kind::Param && !is_in_blocks(program.vars[v].dtype) &&
        elements(program.vars[v].shape) >= kLeastShared)
      params.push_back(static_cast<VarId>(v));
  return params;
}

void share_params(Program& program, const std::vector<VarId>& params, Rank rank) {
  SharedParams(program, params, rank).run();
}

void gather_updated(Program& program, std::int64_t bucket) {
  std::vector<Op> ops, waits;
  std::vector<VarId> params;  // updated, and not on their way yet
  std::int64_t bytes = 0;
  Attrs ranks;
  const auto begin = [&] {
    if (params.empty()) return;
    ops.push_back(gather_op(kGatherParamsStart, params, ranks));
    waits.push_back(gather_op(kGatherParamsWait, params, {}));
    params.clear();
    bytes = 0;
  };
  for (Op& op : program.blocks[0].ops) {
    const bool of_share = op_def(op.type).updates && op.attrs.has(kRank);
    ops.push_back(std::move(op));
    if (!of_share) continue;
    const Op& update = ops.back();
    ranks.set(kRanks, update.attrs.integer(kRanks));
    params.push_back(update.out[0]);
    bytes += bytes_of(program.vars[params.back()]);
    if (bytes >= bucket) begin();
  }
  begin();
  ops.insert(ops.end(), waits.begin(), waits.end());
  program.blocks[0].ops = std::move(ops);
}

}  // namespace lethe
