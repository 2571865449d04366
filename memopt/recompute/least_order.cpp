#include "memopt/recompute/least_order.h"

#include <algorithm>
#include <utility>

#include "framework/language/op_facts.h"
#include "memopt/recompute/order_search.h"

namespace lethe {
namespace {

/// Of a program that is searched.
constexpr int kMostOps = 20'000;

/// Whether the search counts no more than any arena holds, and tries every order in which each op reads what it read
/// before: not so of ops that write parts of one value, which it leaves in their order, nor where one operand has room
/// for two results, of which it may choose the wrong one.
bool knows_all_orders(const Program& program, const Tape& tape) {
  std::vector<VarId> written(program.vars.size(), kNone);  // by root
  for (std::size_t i = 0; i < tape.ops.size(); ++i) {
    if (tape.ops[i].is_view) continue;
    for (const VarId v : program.blocks[0].ops[i].out)
      if (const VarId before = std::exchange(written[tape.root[v]], v); before != kNone && before != v) return false;
    std::vector<VarId> giving;
    for (const auto& [in, out] : tape.ops[i].call.in_place) {
      if (std::ranges::count(giving, in) > 0) return false;
      giving.push_back(in);
    }
  }
  return true;
}

/// Views come right after what they show, or before their first reader.
Program in_order(const Program& program, const Tape& tape, const std::vector<int>& order) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  Program made = program;
  made.blocks[0].ops.clear();
  std::vector<int> view(program.vars.size(), -1);   // by VarId: the op that is still to show it
  std::vector<int> last(program.vars.size(), -1);   // by root: the last op so far that reads or writes it
  std::vector<std::vector<int>> after(ops.size());  // by op: views that come right after it if nobody has asked before
  for (int i = 0; i < static_cast<int>(ops.size()); ++i) {
    if (tape.ops[i].is_view) {
      for (const VarId v : ops[i].out) view[v] = i;
      if (const int maker = last[tape.root[ops[i].out[0]]]; maker >= 0) after[maker].push_back(i);
    } else {
      for (const VarId v : tape.ops[i].call.in) last[v] = i;
      for (const VarId v : tape.ops[i].call.out) last[v] = i;
    }
  }
  const auto run = [&](const auto& self, int i) -> void {
    for (const VarId v : ops[i].in)
      if (v != kNone && view[v] >= 0) self(self, std::exchange(view[v], -1));
    made.blocks[0].ops.push_back(ops[i]);
  };
  const auto show = [&](int i) {
    for (const VarId v : ops[i].out)
      if (view[v] == i) run(run, std::exchange(view[v], -1));
  };
  for (const int i : order) {
    run(run, i);
    for (const int late : after[i]) show(late);
  }
  for (int i = 0; i < static_cast<int>(ops.size()); ++i)
    if (tape.ops[i].is_view) show(i);
  return made;
}

}  // namespace

LeastOrder least_order(const Program& program, const Tape& tape, int looks, const std::optional<std::int64_t>& bytes) {
  const std::vector<Op>& ops = program.blocks[0].ops;
  if (ops.size() > kMostOps || std::ranges::any_of(ops, exchanges)) return {};
  OrderSearch search(tape, looks);
  std::optional<OrderSearch::Found> best;
  std::int64_t least = bytes ? *bytes : search.peak();
  while (least > 0) {  // views alone take nothing
    std::optional<OrderSearch::Found> lower = search.within(least - 1);
    if (!lower) break;
    best = std::move(lower);
    least = best->peak;
  }
  return {.program = best ? std::optional(in_order(program, tape, best->ops)) : std::nullopt,
          .at_least = search.gave_up() || !knows_all_orders(program, tape) ? 0 : least};
}

}  // namespace lethe
