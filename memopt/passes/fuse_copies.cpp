#include "memopt/passes/fuse_copies.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {
namespace {

constexpr int kMostReads = 2;  // each rounds for itself: more take longer than to write a copy and read it

int rounded_input(const Program& program, const Op& op) {
  const auto rounds = op_def(op.type).rounds;
  return rounds ? rounds(program, op) : -1;
}

/// The ops of the block behind `cast` that read what it gives, if all of its `reads` are by ops that can round it, and
/// before anything writes what it copies; else none.
std::vector<Op*> rounding_readers(const Program& program, std::vector<Op>& ops, std::size_t cast, int reads) {
  if (reads > kMostReads) return {};
  const VarId wide = ops[cast].in[0], low = ops[cast].out[0];
  const auto writes = [&](const Op& op) { return std::find(op.out.begin(), op.out.end(), wide) != op.out.end(); };
  std::vector<Op*> readers;
  for (std::size_t i = cast + 1; i < ops.size() && std::ssize(readers) < reads && !writes(ops[i]); ++i)
    if (const int slot = rounded_input(program, ops[i]); slot >= 0 && ops[i].in[slot] == low)
      readers.push_back(&ops[i]);
  return std::ssize(readers) == reads ? readers : std::vector<Op*>{};
}

}  // namespace

Program fuse_copies(Program program, const std::vector<Pin>& pins) {
  const std::vector<int> reads = reads_of(program);
  std::vector<bool> gone(program.vars.size());  // by VarId
  for (Block& block : program.blocks) {
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      const Op& cast = block.ops[i];
      if (cast.type != kCast || !copies_kept(program, cast)) continue;
      const VarId wide = cast.in[0], low = cast.out[0];
      const Var &from = program.vars[wide], &to = program.vars[low];
      if (from.dtype == to.dtype || wide_of(to.dtype) != from.dtype || pins[low] != Pin::None) continue;
      const std::vector<Op*> readers = rounding_readers(program, block.ops, i, reads[low]);
      for (Op* const reader : readers) reader->in[rounded_input(program, *reader)] = wide;
      gone[low] = !readers.empty();
    }
    std::erase_if(block.ops, [&](const Op& op) { return op.type == kCast && gone[op.out[0]]; });
  }
  return program;
}

}  // namespace lethe
