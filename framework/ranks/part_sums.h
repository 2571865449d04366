// The ops that add up what the parts of a batch give, along one tree (tree_sum.h). All go to the end of block 0, with
// role Optimize, as what follows from the gradients: they go wherever updates go.
#pragma once
#include <map>
#include <string>

#include "framework/ranks/micro_batches.h"
#include "framework/ranks/tree_sum.h"

namespace lethe {

/// Adds in bf16, rounding by chance: optimizer/accumulate_op.cpp.
inline constexpr const char* kAccumulate = "accumulate";

class PartSums {
 public:
  /// Program must outlive it.
  PartSums(Program& program, const Shards& shards) : program_(program), shards_(shards) {}

  /// Adds `value`, what one part more has of `var`, to what the parts before it have. `name`: of the sums that end
  /// here.
  void add_up(VarId var, VarId value, const std::string& name, bool last);
  /// Likewise of a parameter's gradient: in bf16 if so asked. What waits alone for its partner is rounded, too.
  void add_gradient(VarId var, VarId value, const std::string& name, bool last);
  void add_to(TreeSum& sum, VarId value, const std::string& name, bool last);
  /// Over all parts, in the dtype that it was summed in.
  VarId of(VarId var) const { return sums_.at(var).sum(); }

  VarId in_dtype(VarId value, DType dtype);

 private:
  VarId append(const char* type, std::vector<VarId> in, Attrs attrs, const std::string& name);

  Program& program_;
  const Shards shards_;
  std::map<VarId, TreeSum> sums_ = {};
};

}  // namespace lethe
