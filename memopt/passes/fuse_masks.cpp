#include "memopt/passes/fuse_masks.h"

#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

/// The op whose output is activated into `y`; null if y is no activation's output.
const Op* activated_into(const Uses& uses, VarId y) {
  const Op* const activation = uses.maker(y);
  return activation && op_def(activation->type).part == FusionPart::Activation ? uses.maker(activation->in[0])
                                                                               : nullptr;
}

}  // namespace

Program fuse_masks(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run_entry([&](const Op& gradient) {
    const FusionRule* const rule = rule_of(gradient, Fusion::Mask);
    const Op* const mask = rule ? rewriter.made_for_one(gradient.in[rule->input]) : nullptr;
    if (!mask || !masks_one(*mask) || !rewriter.is_written_once(mask->in[1])) return;
    const Op* const made = activated_into(rewriter.uses(), mask->in[0]);
    std::vector<Op> masked =
        made && rewriter.stays(*made, gradient) ? rule->fused(rewriter.program(), *made, gradient) : std::vector<Op>{};
    if (masked.empty()) return;
    Op& both = masked.front();
    both.in[rule->input] = mask->in[1];
    rewriter.fold(*mask, gradient, std::move(both));
  });
}

}  // namespace lethe
