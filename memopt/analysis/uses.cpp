#include "memopt/analysis/uses.h"

#include <algorithm>
#include <functional>

#include "framework/op_def.h"
#include "framework/reads.h"
#include "framework/views.h"

namespace lethe {

Uses::Uses(const Program& program)
    : root_(view_root(program)),
      maker_(root_.size()),
      reads_(reads_of(program)),
      readers_(root_.size()),
      writers_(root_.size()),
      changers_(root_.size()) {
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      for (const VarId v : op.in)
        if (v != kNone) readers_[v].push_back(&op);
      for (const VarId v : op.out) {
        writers_[v].push_back(&op);
        if (!op_def(op.type).is_view()) changers_[root_[v]].push_back(&op);
      }
    }
  for (std::size_t v = 0; v < root_.size(); ++v)
    if (writers_[v].size() == 1 && writers_[v][0]->blocks.empty()) maker_[v] = writers_[v][0];
}

bool Uses::is_made(VarId v) const { return maker_[v] && !op_def(maker_[v]->type).updates; }

bool Uses::is_written(VarId v, const Op* begin, const Op* end) const {
  const std::less<const Op*> before;
  const auto within = [&](const Op* op) { return !before(op, begin) && before(op, end); };
  const std::vector<const Op*>&of_var = writers_[v], &of_root = changers_[root_[v]];
  return std::any_of(of_var.begin(), of_var.end(), within) || std::any_of(of_root.begin(), of_root.end(), within);
}

}  // namespace lethe
