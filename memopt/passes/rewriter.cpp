#include "memopt/passes/rewriter.h"

#include <algorithm>
#include <iterator>

#include "framework/error.h"

namespace lethe {

bool Rewriter::stays(const Op& made, const Op& until) const {
  const auto is_written_after = [&](const Op* begin) {
    return [this, begin, &until](VarId v) { return v != kNone && uses_.is_written(v, begin, &until); };
  };
  return std::none_of(made.in.begin(), made.in.end(), is_written_after(&made)) &&
         std::none_of(made.out.begin(), made.out.end(), is_written_after(&made + 1));
}

void Rewriter::replace(const Op& op, std::vector<Op> instead) {
  check(instead_.emplace(&op, std::move(instead)).second, "two rules of a pass replace one op ", op.type);
}

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
