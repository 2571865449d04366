#include "memopt/passes/mask_sums.h"

#include "memopt/passes/rewriter.h"

namespace lethe {

Program mask_sums(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& mask) {
    if (!masks_one(mask)) return;
    const Op* const sum = rewriter.made_for_one(mask.in[1]);
    if (!sum || sum->type != kSum || sum->in.size() != 2) return;
    for (const VarId v : {mask.in[1], sum->in[0], sum->in[1]})
      if (!rewriter.is_written_once(v)) return;
    Op both = mask;
    both.in = {mask.in[0], sum->in[0], sum->in[1]};
    rewriter.fold(*sum, mask, std::move(both));
  });
}

}  // namespace lethe
