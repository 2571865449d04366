#include "memopt/passes/fuse_casts.h"

#include <algorithm>

#include "memopt/passes/rewriter.h"

namespace lethe {

Program fuse_casts(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run_entry([&](const Op& update) {
    const VarId g = update_gradient(update);
    const Op* const cast = g == kNone ? nullptr : rewriter.made_for_one(g);
    if (!cast || cast->type != kCast || !rewriter.is_written_once(cast->in[0])) return;
    const DType low = rewriter.var(cast->in[0]).dtype;
    if (!is_float(low) || wide_of(low) != rewriter.var(g).dtype) return;
    Op widening = update;
    std::replace(widening.in.begin(), widening.in.end(), g, cast->in[0]);
    rewriter.fold(*cast, update, std::move(widening));
  });
}

}  // namespace lethe
