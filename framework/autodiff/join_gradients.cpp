#include "framework/autodiff/join_gradients.h"

#include <algorithm>

#include "framework/autodiff/erase_vars.h"
#include "framework/language/op_def.h"
#include "framework/language/reads.h"

namespace lethe {
namespace {

using Ops = std::vector<Op>;

bool reads_any(const Op& op, const std::vector<bool>& vars) {
  return std::any_of(op.in.begin(), op.in.end(), [&](VarId v) { return v != kNone && vars[v]; });
}

/// A forward op and its gradient, by where they stand, and the ops between that follow from the first.
struct Pair {
  std::size_t forward, gradient;
  std::vector<bool> follows;  // by position
};

/// The op that made the gradient's last input, if the two may be joined; else `gradient` itself.
std::size_t forward_of(const Ops& ops, std::size_t gradient) {
  const VarId link = ops[gradient].in.back();
  for (std::size_t i = 0; i < gradient; ++i)
    if (std::find(ops[i].out.begin(), ops[i].out.end(), link) != ops[i].out.end())
      return ops[i].role == Role::Forward && ops[i].blocks.empty() ? i : gradient;
  return gradient;
}

/// Marks what follows from the forward op; whether all of it may stand after the gradient.
bool find_followers(const Program& program, Pair& pair) {
  const Ops& ops = program.blocks[0].ops;
  std::vector<bool> follow(program.vars.size()), changed(program.vars.size());
  const auto mark = [](std::vector<bool>& vars, const std::vector<VarId>& some) {
    for (const VarId v : some) vars[v] = true;
  };
  mark(follow, ops[pair.forward].out);
  pair.follows.assign(ops.size(), false);
  for (std::size_t i = pair.forward + 1; i < pair.gradient; ++i) {
    const bool in_place = op_def(ops[i].type).updates || !ops[i].blocks.empty();
    if (in_place) mark(changed, ops[i].out);
    if (!reads_any(ops[i], follow)) continue;
    if (in_place) return false;
    pair.follows[i] = true;
    mark(follow, ops[i].out);
  }
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (pair.follows[i] && reads_any(ops[i], changed)) return false;
  Op gradient = ops[pair.gradient];
  gradient.in.pop_back();
  return !reads_any(gradient, follow);
}

Op joined_op(const Op& forward, const Op& gradient) {
  Op op = gradient;
  op.type = op_def(gradient.type).joined;
  op.in.pop_back();
  std::copy(forward.in.begin(), forward.in.end(), op.in.begin());  // of copies those that forward ops made
  op.out = forward.out;
  op.out.insert(op.out.end(), gradient.out.begin(), gradient.out.end());
  return op;
}

void join(Ops& ops, const Pair& pair) {
  Ops order, followers;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (i == pair.forward) continue;
    if (i == pair.gradient) {
      order.push_back(joined_op(ops[pair.forward], ops[i]));
      std::move(followers.begin(), followers.end(), std::back_inserter(order));
    } else if (pair.follows[i]) {
      if (ops[i].role == Role::Forward) ops[i].role = Role::Optimize;
      followers.push_back(std::move(ops[i]));
    } else {
      order.push_back(std::move(ops[i]));
    }
  }
  ops = std::move(order);
}

/// Copies that backward made for a gradient op alone.
void erase_unread_copies(Program& program, std::vector<ParamGrad>& gradients) {
  const std::vector<int> reads = reads_of(program);
  std::vector<bool> gone(program.vars.size());
  std::erase_if(program.blocks[0].ops, [&](const Op& op) {
    const bool unread = op.role == Role::Backward && copies_kept(program, op) && reads[op.out[0]] == 0;
    if (unread) gone[op.out[0]] = true;
    return unread;
  });
  erase_vars(program, gone, gradients);
}

}  // namespace

void join_gradients(Program& program, std::vector<ParamGrad>& gradients) {
  bool joins = false;
  Ops& ops = program.blocks[0].ops;
  for (std::size_t i = 0; i < ops.size();) {
    Pair pair{.forward = op_def(ops[i].type).joined ? forward_of(ops, i) : i, .gradient = i, .follows = {}};
    if (pair.forward == i || !find_followers(program, pair)) {
      ++i;
      continue;
    }
    join(ops, pair);  // of one op less: the next has moved here
    joins = true;
  }
  if (joins) erase_unread_copies(program, gradients);
}

}  // namespace lethe
