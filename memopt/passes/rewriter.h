// What passes that put ops in place of others have in common. A rule looks at the program as it came; what it decides
// is done when all ops have been looked at.
#pragma once
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/language/op_def.h"
#include "memopt/analysis/pins.h"
#include "memopt/analysis/uses.h"

namespace lethe {

/// Whether the op masks one gradient, and not the sum of two.
inline bool masks_one(const Op& op) { return op_def(op.type).part == FusionPart::Mask && op.in.size() == 2; }

/// Whether the op adds two values, as they are: of a network, or two gradients of one value.
inline bool adds_two(const Op& op) {
  return (op.type == kAdd && !op.attrs.has(kActivation)) || (op.type == kSum && op.in.size() == 2);
}

class Rewriter {
 public:
  Rewriter(Program program, std::vector<Pin> pins)
      : program_(std::move(program)), pins_(std::move(pins)), uses_(program_) {}
  Rewriter(const Rewriter&) = delete;  // the uses point into the program

  const Program& program() const { return program_; }
  const Uses& uses() const { return uses_; }
  const Var& var(VarId v) const { return program_.vars[v]; }

  /// Whether v stands in the block that the rule is asked for.
  bool is_here(VarId v) const { return var(v).block == block_; }
  /// Whether v is made here and holds from then on what it was made.
  bool is_written_once(VarId v) const { return is_here(v) && uses_.is_written_once(v); }
  /// The op here that makes v for one reader alone: nobody has pinned it; null if there is none.
  const Op* made_for_one(VarId v) const {
    return is_here(v) && uses_.reads(v) == 1 && pins_[v] == Pin::None ? uses_.maker(v) : nullptr;
  }
  /// Whether an op's inputs and outputs are, at a later one of its block, what it read and made.
  bool stays(const Op& made, const Op& until) const;
  bool is_pinned(VarId v) const { return pins_[v] != Pin::None; }

  bool is_replaced(const Op& op) const { return instead_.count(&op) > 0; }
  /// Puts these in place of the op; if there are none, the op goes. Fails if that has been decided already.
  void replace(const Op& op, std::vector<Op> instead = {});
  /// Puts one op that does the work of both where the reader stood.
  void fold(const Op& maker, const Op& reader, Op both) {
    replace(maker);
    replace(reader, {std::move(both)});
  }
  /// A var that no op of the program touches yet.
  VarId add(Var var) { return add_var(program_, std::move(var)); }

  /// Asks the rule for each op of the program that it has not replaced yet.
  template <class Rule>
  Program run(const Rule& rule) {
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) ask(static_cast<BlockId>(b), rule);
    return made();
  }
  /// Does the same for ops of block 0 alone.
  template <class Rule>
  Program run_entry(const Rule& rule) {
    ask(0, rule);
    return made();
  }

 private:
  template <class Rule>
  void ask(BlockId block, const Rule& rule) {
    block_ = block;
    for (const Op& op : program_.blocks[block].ops)
      if (!is_replaced(op)) rule(op);
  }
  Program made();

  Program program_;
  const std::vector<Pin> pins_;
  const Uses uses_;
  std::unordered_map<const Op*, std::vector<Op>> instead_;
  BlockId block_ = 0;
};

}  // namespace lethe
