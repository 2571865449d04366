#include "memopt/passes/fuse_copies.h"

#include <algorithm>

#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

constexpr int kMostReads = 2;  // each rounds for itself: more take longer than to write a copy and read it

}  // namespace

Program fuse_copies(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  const auto rounded_input = [&](const Op& op) {
    const auto rounds = op_def(op.type).rounds;
    return rounds ? rounds(rewriter.program(), op) : -1;
  };
  return rewriter.run([&](const Op& cast) {
    if (cast.type != kCast || !copies_kept(rewriter.program(), cast)) return;
    const VarId wide = cast.in[0], low = cast.out[0];
    const DType from = rewriter.var(wide).dtype, to = rewriter.var(low).dtype;
    const auto readers = rewriter.uses().readers(low);
    if (from == to || wide_of(to) != from || rewriter.is_pinned(low) || readers.empty() ||
        rewriter.uses().reads(low) > kMostReads || std::ssize(readers) != rewriter.uses().reads(low))
      return;
    const bool all_round = std::all_of(readers.begin(), readers.end(), [&](const Op* reader) {
      const int slot = rounded_input(*reader);
      return slot >= 0 && reader->in[slot] == low && std::count(readers.begin(), readers.end(), reader) == 1 &&
             rewriter.is_here(reader->out[0]) && !rewriter.uses().is_written(wide, &cast, reader);
    });
    if (!all_round) return;
    for (const Op* const reader : readers) {
      Op rounding = *reader;
      rounding.in[rounded_input(*reader)] = wide;
      rewriter.replace(*reader, {std::move(rounding)});
    }
    rewriter.replace(cast);
  });
}

}  // namespace lethe
