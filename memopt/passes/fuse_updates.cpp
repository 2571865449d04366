#include "memopt/passes/fuse_updates.h"

#include <algorithm>

#include "memopt/passes/rewriter.h"

namespace lethe {

Program fuse_updates(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  const auto stays = [&](VarId v) {
    return v == kNone || rewriter.is_written_once(v) ||
           (rewriter.var(rewriter.uses().root(v)).kind == Kind::Input && rewriter.is_here(v));
  };
  return rewriter.run_entry([&](const Op& update) {
    const VarId g = update_gradient(update);
    const Op* const made = g == kNone || update.attrs.has(kRanks) ? nullptr : rewriter.made_for_one(g);
    const FusionRule* const rule = made ? rule_of(*made, Fusion::Update) : nullptr;
    if (!rule || !std::all_of(made->in.begin(), made->in.end(), stays)) return;
    const std::vector<Op> both = rule->fused(rewriter.program(), *made, update);
    if (!both.empty()) rewriter.fold(*made, update, both.front());
  });
}

}  // namespace lethe
