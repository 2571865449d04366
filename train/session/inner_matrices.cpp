#include "train/session/inner_matrices.h"

#include <map>

#include "framework/language/control_flow.h"

namespace lethe {
namespace {

using Names = std::set<std::string>;

/// Goes through the program in the order in which its ops run.
class ReadersOfMatrices {
 public:
  explicit ReadersOfMatrices(const Program& program) : program_(program) {}

  /// `last`: the weights of the layers that may be the last ones before the block. Gives those after it.
  Names walk(BlockId block, Names last) {
    for (const Op& op : program_.blocks[block].ops) {
      Names ends;
      for (const BlockId inside : op.blocks) ends.merge(walk(inside, last));
      if (!ends.empty()) last = std::move(ends);
      for (std::size_t slot = 0; slot < reads_itself(op); ++slot)
        if (const VarId param = param_of(op.in[slot]); param != kNone) {
          const std::string& name = program_.vars[param].name;
          if (op.type == kCast)
            copies_[op.out[0]] = param;
          else if (op.type == "fc" && slot == 1)
            matrices_.insert(name), last = {name};
          else
            others_.insert(name);
        }
    }
    return last;
  }
  Names inner(const Names& last) const {
    Names names = matrices_;
    std::erase_if(names, [&](const std::string& name) { return others_.contains(name) || last.contains(name); });
    return names;
  }

 private:
  /// Of a loop or a branch what stands after these is read by the ops in its blocks.
  std::size_t reads_itself(const Op& op) const {
    if (op.blocks.empty()) return op.in.size();
    return op.type == kWhile ? loop_carried(program_, op) : 1;
  }
  /// What it is, or is a copy of in another dtype; kNone for all others.
  VarId param_of(VarId var) const {
    if (var == kNone) return kNone;
    const auto copy = copies_.find(var);
    if (copy != copies_.end()) return copy->second;
    return program_.vars[var].kind == Kind::Param ? var : kNone;
  }

  const Program& program_;
  std::map<VarId, VarId> copies_;
  Names matrices_, others_;
};

}  // namespace

std::set<std::string> inner_matrices(const Network& network) {
  ReadersOfMatrices readers(network.program);
  const Names last = readers.walk(0, {});
  return readers.inner(last);
}

}  // namespace lethe
