#include "memopt/passes/mask_picked.h"

#include "memopt/passes/rewriter.h"

namespace lethe {

Program mask_picked(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& mask) {
    if (!masks_one(mask)) return;
    const VarId y = mask.in[0], a = mask.in[1];
    const Op* const back = rewriter.made_for_one(a);
    if (!back || op_def(back->type).part != FusionPart::PickGradient) return;
    const VarId index = back->in[0], gradient = back->in[1];
    const Op* const pick = rewriter.uses().maker(index);
    if (!pick || op_def(pick->type).part != FusionPart::Pick || pick->in[0] != y || pick->out[1] != index) return;
    for (const VarId v : {y, a, pick->out[0], index, gradient})
      if (!rewriter.is_written_once(v)) return;
    Op first = mask, then = *back;
    first.in = {pick->out[0], gradient};
    first.out = {rewriter.add(rewriter.var(gradient))};
    then.in[1] = first.out[0];
    then.out = mask.out;
    rewriter.replace(*back);
    rewriter.replace(mask, {std::move(first), std::move(then)});
  });
}

}  // namespace lethe
