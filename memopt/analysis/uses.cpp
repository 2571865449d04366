#include "memopt/analysis/uses.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "framework/language/op_def.h"
#include "framework/language/reads.h"
#include "framework/language/views.h"

namespace lethe {

template <class Add>
void Uses::Lists::fill(std::size_t vars, const Add& add) {
  begin_.assign(vars + 2, 0);
  add([&](VarId v, const Op&) { ++begin_[v + 2]; });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  ops_.resize(static_cast<std::size_t>(begin_.back()));
  add([&](VarId v, const Op& op) { ops_[begin_[v + 1]++] = &op; });
}

Uses::Uses(const Program& program) : root_(view_root(program)), maker_(root_.size()), reads_(reads_of(program)) {
  const auto for_each = [&](auto slots, const auto& note) {
    for (const Block& block : program.blocks)
      for (const Op& op : block.ops)
        for (const VarId v : op.*slots)
          if (v != kNone) note(v, op);
  };
  readers_.fill(root_.size(), [&](const auto& note) { for_each(&Op::in, note); });
  writers_.fill(root_.size(), [&](const auto& note) { for_each(&Op::out, note); });
  changers_.fill(root_.size(), [&](const auto& note) {
    for_each(&Op::out, [&](VarId v, const Op& op) {
      if (!op_def(op.type).is_view()) note(root_[v], op);
    });
  });
  for (std::size_t v = 0; v < root_.size(); ++v) {
    const auto writers = writers_.of(static_cast<VarId>(v));
    if (writers.size() == 1 && writers[0]->blocks.empty()) maker_[v] = writers[0];
  }
}

bool Uses::is_made(VarId v) const { return maker_[v] && !op_def(maker_[v]->type).updates; }

bool Uses::is_written(VarId v, const Op* begin, const Op* end) const {
  const std::less<const Op*> before;
  const auto within = [&](const Op* op) { return !before(op, begin) && before(op, end); };
  const auto of_var = writers_.of(v), of_root = changers_.of(root_[v]);
  return std::any_of(of_var.begin(), of_var.end(), within) || std::any_of(of_root.begin(), of_root.end(), within);
}

}  // namespace lethe
