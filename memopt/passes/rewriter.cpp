#include "memopt/passes/rewriter.h"

#include <algorithm>
#include <iterator>

namespace lethe {

Program Rewriter::made() {
  if (instead_.empty()) return std::move(made_);
  for (std::size_t b = 0; b < made_.blocks.size(); ++b) {
    std::vector<Op> ops;
    for (std::size_t i = 0; i < made_.blocks[b].ops.size(); ++i)
      if (const auto found = instead_.find(&program_.blocks[b].ops[i]); found == instead_.end())
        ops.push_back(std::move(made_.blocks[b].ops[i]));
      else
        std::move(found->second.begin(), found->second.end(), std::back_inserter(ops));
    made_.blocks[b].ops = std::move(ops);
  }
  return std::move(made_);
}

}  // namespace lethe
