#include "memopt/passes/fuse_sums.h"

#include <algorithm>

#include "framework/op_def.h"
#include "framework/reads.h"

namespace lethe {
namespace {

/// Where vars of one block are made.
class Makers {
 public:
  Makers(const Program& program, const Block& block, const std::vector<Pin>& pins)
      : program_(program), pins_(pins), reads_(reads_of(program)), maker_(program.vars.size(), -1) {
    for (int i = 0; i < static_cast<int>(block.ops.size()); ++i)
      for (const VarId v : block.ops[i].out) maker_[v] = i;
  }

  /// The op that may give the sum of both instead of the add: the one that makes `v`, when `other` is there.
  int giver(const Block& block, VarId v, VarId other) const {
    const int maker = maker_[v];
    if (maker < 0 || maker_[other] >= maker || reads_[v] != 1 || pins_[v] != Pin::None) return -1;
    const Op& op = block.ops[maker];
    const OpDef& def = op_def(op.type);
    if (def.adds < 0) return -1;
    const bool is_free = static_cast<int>(op.in.size()) <= def.adds || op.in[def.adds] == kNone;
    const bool alike = program_.vars[v].shape == program_.vars[other].shape && program_.vars[v].pitch == 0 &&
                       program_.vars[other].pitch == 0;
    return is_free && alike && op.out[0] == v && !op.attrs.has(kActivation) ? maker : -1;
  }

 private:
  const Program& program_;
  const std::vector<Pin>& pins_;
  const std::vector<int> reads_;  // by VarId
  std::vector<int> maker_;        // by VarId: the op of the block; -1: none
};

}  // namespace

Program fuse_sums(Program program, const std::vector<Pin>& pins) {
  for (Block& block : program.blocks) {
    const Makers makers(program, block, pins);
    std::vector<bool> gone(block.ops.size());
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
      Op& add = block.ops[i];
      if (add.type != kAdd || add.attrs.has(kActivation)) continue;
      int giver = makers.giver(block, add.in[0], add.in[1]);
      const bool first = giver >= 0;
      if (!first) giver = makers.giver(block, add.in[1], add.in[0]);
      if (giver < 0 || program.vars[add.out[0]].pitch != 0) continue;
      Op& op = block.ops[giver];
      const std::size_t slot = op_def(op.type).adds;
      if (op.in.size() <= slot) op.in.resize(slot + 1, kNone);
      op.in[slot] = add.in[first ? 1 : 0];
      op.out[0] = add.out[0];
      gone[i] = true;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < block.ops.size(); ++i)
      if (!gone[i]) {
        if (kept != i) block.ops[kept] = std::move(block.ops[i]);
        ++kept;
      }
    block.ops.resize(kept);
  }
  return program;
}

}  // namespace lethe
