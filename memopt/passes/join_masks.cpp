#include "memopt/passes/join_masks.h"

#include <algorithm>

#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

/// By VarId: what a slice or a concatenation reads or makes. As views they may leave gaps between rows, which masks
/// take and norms do not.
std::vector<bool> parts_of_copies(const Program& program) {
  std::vector<bool> part(program.vars.size());
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (!op_def(op.type).as_view) continue;
      for (const std::vector<VarId>* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          if (v != kNone) part[v] = true;
    }
  return part;
}

}  // namespace

Program join_masks(Program program) {
  const std::vector<Pin> none(program.vars.size());
  Rewriter rewriter(std::move(program), none);
  const std::vector<bool> part = parts_of_copies(rewriter.program());
  const auto stays = [&](VarId v) { return rewriter.is_written_once(v) && !part[v]; };
  return rewriter.run_entry([&](const Op& mask) {
    if (op_def(mask.type).part != FusionPart::Mask || !stays(mask.out[0]) ||
        !std::all_of(mask.in.begin(), mask.in.end(), stays))
      return;
    const VarId g = mask.out[0];
    const auto readers = rewriter.uses().readers(g);
    if (readers.empty() || std::count(readers.begin(), readers.end(), readers.front()) != 1) return;
    const Op& first = *readers.front();
    const FusionRule* const rule = rule_of(first, Fusion::Join);
    if (!rule || first.in[rule->input] != g) return;
    std::vector<Op> both = rule->fused(rewriter.program(), mask, first);
    if (!both.empty()) rewriter.fold(mask, first, std::move(both.front()));
  });
}

}  // namespace lethe
