#include "train/optnet/written_out.h"

#include <numeric>

#include "framework/error.h"
#include "framework/language/control_flow.h"

namespace lethe {
namespace {

constexpr std::size_t kMostOps = 1'000'000;

class Writer {
 public:
  explicit Writer(const Network& network) : network_(network), made_(network), now_(network.program.vars.size()) {
    std::iota(now_.begin(), now_.end(), 0);
    made_.program.blocks.resize(1);
    made_.program.blocks[0].ops.clear();
    for (Var& var : made_.program.vars) var.block = 0;
  }

  Network run() && {
    append_block(0);
    for (VarId* v : {&made_.prediction, &made_.loss, &made_.sample_loss, &made_.correct, &made_.target})
      if (*v != kNone) *v = now_[*v];
    for (VarId& v : made_.outputs) v = now_[v];
    return std::move(made_);
  }

 private:
  void append_block(BlockId block) {
    for (const Op& op : network_.program.blocks[block].ops) {
      if (op.type == kWhile)
        append_loop(op);
      else if (op.type == kIf)
        append_branch(op);
      else
        append(op, renamed(op.in));
    }
  }

  /// A var that is written again, by a further trip or in place, is one more var.
  void append(const Op& op, std::vector<VarId> in) {
    Op again{.type = op.type, .in = std::move(in), .out = op.out, .attrs = op.attrs, .role = op.role};
    for (VarId& v : again.out)
      if (made_.program.vars[v].kind == Kind::Temp) v = now_[v] = written(v);
    std::vector<Op>& ops = made_.program.blocks[0].ops;
    check(ops.size() < kMostOps, network_.name, ": loops written out make more than ", kMostOps, " ops");
    ops.push_back(std::move(again));
  }

  void append_loop(const Op& op) {
    const std::size_t carried = loop_carried(network_.program, op);
    for (std::size_t i = 0; i < carried; ++i) now_[op.out[i]] = now_[op.in[i]];
    for (std::int64_t trip = 0; trip < op.attrs.integer(kMaxTrips); ++trip) {
      append_block(op.blocks[1]);
      const std::vector<VarId> results = renamed(network_.program.blocks[op.blocks[1]].results);
      for (std::size_t i = 0; i < carried; ++i) now_[op.out[i]] = results[i];
    }
  }

  void append_branch(const Op& op) {
    const std::size_t results = loop_carried(network_.program, op);
    const VarId condition = now_[op.in[0]];
    for (const BlockId side : op.blocks) append_block(side);
    for (std::size_t i = 0; i < results; ++i) {
      std::vector<VarId> in = {condition};
      for (const BlockId side : op.blocks) in.push_back(now_[network_.program.blocks[side].results[i]]);
      append({.type = kIf, .out = {op.out[i]}, .role = op.role}, std::move(in));
    }
  }

  std::vector<VarId> renamed(std::vector<VarId> vars) const {
    for (VarId& v : vars)
      if (v != kNone) v = now_[v];
    return vars;
  }

  /// The var itself the first time.
  VarId written(VarId v) {
    is_written_.resize(made_.program.vars.size());
    if (!is_written_[v]) {
      is_written_[v] = true;
      return v;
    }
    Var again = made_.program.vars[v];
    again.name += message('#', made_.program.vars.size());
    return add_var(made_.program, std::move(again));
  }

  const Network& network_;
  Network made_;
  std::vector<VarId> now_;  // by var of the network: which var holds its value
  std::vector<bool> is_written_;
};

}  // namespace

Network written_out(const Network& network) { return Writer(network).run(); }

}  // namespace lethe
