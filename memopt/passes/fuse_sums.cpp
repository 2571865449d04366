#include "memopt/passes/fuse_sums.h"

#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

/// The op that may give the sum of both instead of the add: the one that makes `v`, when `other` is there. Null if it
/// may not.
const Op* giver(const Rewriter& rewriter, const Op& add, VarId v, VarId other) {
  const Op* const op = rewriter.made_for_one(v);
  const int slot = op ? op_def(op->type).adds : -1;
  if (slot < 0 || op->out[0] != v || op->attrs.has(kActivation)) return nullptr;
  if (std::ssize(op->in) > slot && op->in[slot] != kNone) return nullptr;
  const Var &of_v = rewriter.var(v), &of_other = rewriter.var(other);
  const bool alike = of_v.shape == of_other.shape && of_v.pitch == 0 && of_other.pitch == 0;
  return alike && !rewriter.uses().is_written(other, op, &add) ? op : nullptr;
}

}  // namespace

Program fuse_sums(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& add) {
    if (!adds_two(add) || rewriter.var(add.out[0]).pitch != 0) return;
    for (const auto& [v, other] : {std::pair(add.in[0], add.in[1]), std::pair(add.in[1], add.in[0])}) {
      const Op* const op = giver(rewriter, add, v, other);
      if (!op) continue;
      Op both = *op;
      const auto slot = static_cast<std::size_t>(op_def(op->type).adds);
      if (both.in.size() <= slot) both.in.resize(slot + 1, kNone);
      both.in[slot] = other;
      both.out[0] = add.out[0];
      rewriter.replace(*op, {std::move(both)});
      rewriter.replace(add);
      return;
    }
  });
}

}  // namespace lethe
