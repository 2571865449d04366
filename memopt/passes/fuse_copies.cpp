#include "memopt/passes/fuse_copies.h"

#include <algorithm>

#include "framework/language/weight_blocks.h"
#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

constexpr int kMostReads = 2;  // each rounds for itself: more take longer than to write a copy and read it

/// What is widened is in fewer bits because memory is scarce: no reader is one too many.
bool suits(DType param, DType copy, int reads) {
  return is_in_blocks(param) || wide_of(param) == copy || (wide_of(copy) == param && reads <= kMostReads);
}

/// Whether a product has the same bits when it reads the parameter in place of a copy in `copy`.
bool keeps_bits(const Op& product, DType param, DType copy) {
  return (wide_of(copy) != copy && !is_in_blocks(param)) || product.attrs.flag(kWeightBlocks, false);
}

/// `takes`: whether parameters of a dtype are read so.
Program fused(Program program, const std::vector<Pin>& pins, bool (*takes)(DType)) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& cast) {
    if (cast.type != kCast || !copies_kept(rewriter.program(), cast)) return;
    const VarId param = cast.in[0], copy = cast.out[0];
    const DType from = rewriter.var(param).dtype, to = rewriter.var(copy).dtype;
    if (!takes(from)) return;
    const auto converted_input = [&](const Op& op) {
      const auto rounds = op_def(op.type).rounds;
      return rounds ? rounds(rewriter.program(), op, from) : -1;
    };
    const auto readers = rewriter.uses().readers(copy);
    if (from == to || rewriter.is_pinned(copy) || readers.empty() || !suits(from, to, rewriter.uses().reads(copy)) ||
        std::ssize(readers) != rewriter.uses().reads(copy))
      return;
    const bool all_convert = std::all_of(readers.begin(), readers.end(), [&](const Op* reader) {
      const int slot = converted_input(*reader);
      return slot >= 0 && reader->in[slot] == copy && keeps_bits(*reader, from, to) &&
             std::count(readers.begin(), readers.end(), reader) == 1 && rewriter.is_here(reader->out[0]) &&
             !rewriter.uses().is_written(param, &cast, reader);
    });
    if (!all_convert) return;
    for (const Op* const reader : readers) {
      Op converting = *reader;
      converting.in[converted_input(*reader)] = param;
      rewriter.replace(*reader, {std::move(converting)});
    }
    rewriter.replace(cast);
  });
}

}  // namespace

Program fuse_copies(Program program, const std::vector<Pin>& pins) {
  return fused(std::move(program), pins, [](DType) { return true; });
}

Program fuse_blocks(Program program, const std::vector<Pin>& pins) {
  return fused(std::move(program), pins, is_in_blocks);
}

}  // namespace lethe
