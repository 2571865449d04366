// Which sums of parts are added when, so that all are summed along one binary tree whoever has which part.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// What the parts give, summed along a binary tree whose leaves are the parts: two sums of equally many parts are added
/// as soon as both are there, and what is left at the end from the last to the first.
class TreeSum {
 public:
  /// Of one part more: what is to be added to its value, in this order, for the sums that become complete.
  std::vector<VarId> due(bool last) const {
    std::vector<VarId> operands;
    std::size_t open = pending_.size();
    for (std::int64_t size = 1; open > 0 && (last || pending_[open - 1].parts == size); size *= 2)
      operands.push_back(pending_[--open].sum);
    return operands;
  }
  /// Notes the sum of that value with all that was due.
  void take(VarId sum, std::size_t added) {
    std::int64_t parts = 1;
    for (; added > 0; --added) {
      parts += pending_.back().parts;
      pending_.pop_back();
    }
    pending_.push_back({sum, parts});
  }
  VarId sum() const { return pending_.front().sum; }

 private:
  struct Pending {
    VarId sum;
    std::int64_t parts;
  };
  std::vector<Pending> pending_;  // of more parts before fewer
};

}  // namespace lethe
