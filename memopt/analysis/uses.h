// Who makes, changes and reads the vars of a program.
#pragma once
#include <span>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

class Uses {
 public:
  /// The program must outlive it and stay as it is.
  explicit Uses(const Program& program);

  /// The only op that writes v, if that is no loop or branch, and so an op of v's block; else null.
  const Op* maker(VarId v) const { return maker_[v]; }
  /// Its readers and, beside these, the blocks that it is a result of.
  int reads(VarId v) const { return reads_[v]; }
  /// A reader stands here once for each slot by which it reads v.
  std::span<const Op* const> readers(VarId v) const { return readers_.of(v); }
  VarId root(VarId v) const { return root_[v]; }
  /// Whether ops make v, and what it shows, once and never update it: from then on it holds what it was made.
  bool is_written_once(VarId v) const { return is_made(v) && is_made(root_[v]); }
  /// Whether one of these ops, which stand in a row in a block, writes v or changes what it shows.
  bool is_written(VarId v, const Op* begin, const Op* end) const;

 private:
  /// Ops by VarId, side by side.
  class Lists {
   public:
    /// `add(note)` notes each var and op; it is asked twice, and first to count.
    template <class Add>
    void fill(std::size_t vars, const Add& add);
    std::span<const Op* const> of(VarId v) const { return {ops_.data() + begin_[v], ops_.data() + begin_[v + 1]}; }

   private:
    std::vector<int> begin_;
    std::vector<const Op*> ops_;
  };
  bool is_made(VarId v) const;

  // By VarId.
  std::vector<VarId> root_;
  std::vector<const Op*> maker_;
  std::vector<int> reads_;
  Lists readers_;
  Lists writers_;   // of the var itself
  Lists changers_;  // by root: of all vars that show it, but no views
};

}  // namespace lethe
