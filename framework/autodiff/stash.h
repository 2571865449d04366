// Keeps what backward reads of each trip of a loop: a stash var with an entry a trip, written in the forward blocks and
// read in those of the gradient.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// A loop around a var that is kept: its bound, and the counters of its trips forward and backward.
struct StashLoop {
  std::int64_t max_trips;
  VarId forward, backward;
};

/// Collects changes of the forward blocks and makes them in the end, so that nothing moves before.
class Stash {
 public:
  explicit Stash(Program& program) : program_(program) {}

  /// Keeps `var` in a stash of one axis a loop, outermost first, which stands in the block of the op whose first block
  /// is `owner`. It is written in `block`: at its beginning, or after the last op there that writes the var.
  VarId keep(VarId var, const std::vector<StashLoop>& loops, BlockId owner, BlockId block, bool at_begin);
  /// Moves a var out of branches to `block`, where its memory outlives them. What ops with blocks hand on stays where
  /// it is.
  void hoist(VarId var, BlockId block);
  bool can_hoist(VarId var) const;

  /// The block that a var was of before it was moved.
  BlockId block_of(VarId var) const;
  bool is_hoisted(VarId var) const { return home_.count(var) != 0; }

  /// Makes the changes.
  void finish();

 private:
  void finish_block(BlockId block);

  Program& program_;
  std::map<BlockId, std::vector<Op>> before_;      // by the first block of the op that they stand before
  std::map<BlockId, std::vector<Op>> begin_;       // by block
  std::map<std::pair<BlockId, VarId>, Op> after_;  // by block, and var that is kept
  std::map<VarId, BlockId> home_;                  // of hoisted vars
};

}  // namespace lethe
