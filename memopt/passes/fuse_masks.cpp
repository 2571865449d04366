#include "memopt/passes/fuse_masks.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"
#include "memopt/analysis/makers.h"

namespace lethe {
namespace {

class Masks {
 public:
  Masks(const Program& program, const std::vector<Pin>& pins)
      : program_(program), pins_(pins), reads_(reads_of(program)), maker_(sole_makers(program)) {}

  /// The op that masks an input of `gradient`, which may do so itself; null if there is none.
  const Op* mask_of(const Op& gradient) const {
    const int slot = op_def(gradient.type).masked.of;
    if (slot < 0) return nullptr;
    const VarId g = gradient.in[slot];
    const Op* const mask = maker_[g];
    return mask && op_def(mask->type).masks && mask->in.size() == 2 && reads_[g] == 1 && pins_[g] == Pin::None &&
                   is_settled(mask->in[1]) && program_.vars[g].block == 0
               ? mask
               : nullptr;
  }

  /// The op whose output is activated into `y`; null if y is no activation's output.
  const Op* activated_into(VarId y) const {
    const Op* const activation = maker_[y];
    return activation && op_def(activation->type).activation ? maker_[activation->in[0]] : nullptr;
  }

 private:
  /// It still holds what the mask read: it is written once, and by no loop or branch.
  bool is_settled(VarId v) const { return maker_[v] != nullptr; }

  const Program& program_;
  const std::vector<Pin>& pins_;
  std::vector<int> reads_;  // by VarId
  std::vector<const Op*> maker_;
};

}  // namespace

Program fuse_masks(Program program, const std::vector<Pin>& pins) {
  const Program before = program;
  const Masks masks(before, pins);
  std::vector<bool> gone(program.vars.size());     // by VarId: what the masks gave
  std::vector<bool> changed(program.vars.size());  // by VarId: by an update, a loop or a branch that stands before
  std::vector<Op>& ops = program.blocks[0].ops;
  for (Op& op : ops) {
    const Op* const mask = masks.mask_of(op);
    const Op* const made = mask ? masks.activated_into(mask->in[0]) : nullptr;
    const MaskedGradient& masked = op_def(op.type).masked;
    std::optional<Op> instead = made ? masked.instead(op, *made) : std::nullopt;
    const auto is_changed = [&](VarId v) { return v != kNone && changed[v]; };
    if (instead && std::none_of(instead->in.begin(), instead->in.end(), is_changed)) {
      instead->in[masked.of] = mask->in[1];
      gone[mask->out[0]] = true;
      op = std::move(*instead);
    }
    if (op_def(op.type).updates || !op.blocks.empty())
      for (const VarId v : op.out) changed[v] = true;
  }
  std::erase_if(ops, [&](const Op& op) { return op.out.size() == 1 && gone[op.out[0]]; });
  return program;
}

}  // namespace lethe
