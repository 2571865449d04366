#include "memopt/passes/fuse_shortcut_norms.h"

#include "memopt/passes/rewriter.h"

namespace lethe {

Program fuse_shortcut_norms(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& adding) {
    const FusionRule* const rule = rule_of(adding, Fusion::ShortcutNorm);
    if (!rule || std::ssize(adding.in) != rule->input + 1 || adding.in[rule->input] == kNone) return;
    const Op* const made = rewriter.made_for_one(adding.in[rule->input]);
    if (!made || made->out[0] != adding.in[rule->input] || !rewriter.stays(*made, adding)) return;
    std::vector<Op> both = rule->fused(rewriter.program(), *made, adding);
    if (both.empty()) return;
    rewriter.replace(*made, {std::move(both[0])});
    rewriter.replace(adding, {std::move(both[1])});
  });
}

}  // namespace lethe
