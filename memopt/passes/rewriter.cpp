#include "memopt/passes/rewriter.h"

#include <algorithm>
#include <iterator>

namespace lethe {

Program Rewriter::made() {
  if (instead_.empty()) return std::move(program_);
  for (Block& block : program_.blocks) {
    std::vector<Op> ops;
    for (Op& op : block.ops)
      if (const auto found = instead_.find(&op); found == instead_.end())
        ops.push_back(std::move(op));
      else
        std::move(found->second.begin(), found->second.end(), std::back_inserter(ops));
    block.ops = std::move(ops);
  }
  return std::move(program_);
}

}  // namespace lethe
