// What some ops read and change: who has to keep its order with them.
#pragma once
#include <unordered_set>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

class Footprint {
 public:
  /// `storage`: view_root of the program, since a view is what it shows; must outlive it.
  explicit Footprint(const std::vector<VarId>& storage) : storage_(&storage) {}

  void add(const Op& op) {
    for (const VarId v : op.in)
      if (v != kNone) read_.insert((*storage_)[v]);
    for (const VarId v : op.out) changed_.insert((*storage_)[v]);
  }
  /// Whether the op changes what they read or change, or reads what they change.
  bool conflicts_with(const Op& op) const {
    for (const VarId v : op.in)
      if (v != kNone && changed_.count((*storage_)[v]) > 0) return true;
    for (const VarId v : op.out)
      if (changed_.count((*storage_)[v]) + read_.count((*storage_)[v]) > 0) return true;
    return false;
  }

 private:
  const std::vector<VarId>* storage_;
  std::unordered_set<VarId> read_, changed_;
};

}  // namespace lethe
