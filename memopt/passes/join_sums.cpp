#include "memopt/passes/join_sums.h"

#include <algorithm>

#include "memopt/passes/rewriter.h"

namespace lethe {

Program join_sums(Program program) {
  const std::vector<Pin> none(program.vars.size());
  Rewriter rewriter(std::move(program), none);
  const auto is_dense = [&](VarId v, const Var& like) {
    return rewriter.var(v).shape == like.shape && rewriter.var(v).pitch == 0;
  };
  return rewriter.run([&](const Op& sum) {
    if (!adds_two(sum) || !rewriter.is_written_once(sum.out[0])) return;
    const Var& s = rewriter.var(sum.out[0]);
    const auto readers = rewriter.uses().readers(sum.out[0]);
    if (readers.empty() || s.pitch != 0 || !is_dense(sum.in[0], s) || !is_dense(sum.in[1], s)) return;
    const Op& norm = *readers.front();
    const FusionRule* const rule = rule_of(norm, Fusion::JoinSum);
    if (!rule || norm.in[rule->input] != sum.out[0] || !rewriter.is_here(norm.out[0]) ||
        std::ranges::count(readers, &norm) != 1 || !rewriter.stays(sum, norm))
      return;
    std::vector<Op> both = rule->fused(rewriter.program(), sum, norm);
    if (!both.empty()) rewriter.fold(sum, norm, std::move(both.front()));
  });
}

}  // namespace lethe
