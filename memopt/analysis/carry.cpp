#include "memopt/analysis/carry.h"

#include <algorithm>

#include "framework/language/control_flow.h"
#include "framework/language/views.h"

namespace lethe {

LastRead last_read(const Program& program, const Liveness& live, BlockId block,
                   const std::function<bool(VarId)>& is_it) {
  LastRead last;
  const auto is_read = [&](VarId v) { return v != kNone && is_it(v); };
  const std::vector<Op>& ops = program.blocks[block].ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    const auto reads = std::count_if(op.in.begin(), op.in.end(), is_read);
    if (reads == 0) continue;
    const std::size_t initial = op.type == kWhile ? loop_carried(program, op) : op.blocks.empty() ? op.in.size() : 0;
    const auto captured = op.in.begin() + static_cast<std::ptrdiff_t>(initial);
    const bool throughout = std::any_of(captured, op.in.end(), is_read);
    last = {.step = throughout ? live.ops[block][i].last : live.ops[block][i].first};
    for (const InPlace& pair : inplace_pairs(program, op))
      if (reads == 1 && is_read(op.in[pair.in])) last.over_it.push_back(op.out[pair.out]);
  }
  return last;
}

std::vector<Tick> loop_begins(const Program& program, const Liveness& live) {
  std::vector<Tick> begins(program.blocks.size(), kForever);
  for (const auto& [block, index] : live.at) {  // outer loops before inner ones
    const Op& op = program.blocks[block].ops[index];
    for (const BlockId body : op.blocks)
      begins[body] = std::min(begins[block], op.type == kWhile ? live.ops[block][index].first : begins[block]);
  }
  return begins;
}

std::vector<VarId> results_for(const Program& program, const Op& op, std::size_t i) {
  std::vector<VarId> results;
  for (const BlockId body : op.blocks)
    if (op.type != kWhile || body != op.blocks.front()) results.push_back(program.blocks[body].results[i]);
  return results;
}

void prolong_results(const Program& program, const Liveness& live, const std::vector<int>& storages,
                     std::vector<Life>& lives) {
  const std::vector<VarId> shown = view_root(program);
  for (Tick step = 0; step < live.ticks(); ++step) {  // outer loops before inner ones
    const auto [block, index] = live.at[step];
    const Op& op = program.blocks[block].ops[index];
    if (op.blocks.empty() || live.ops[block][index].first != step) continue;
    for (std::size_t i = 0; i < loop_carried(program, op); ++i)
      for (const VarId result : results_for(program, op, i))
        if (storages[result] == storages[op.out[i]])
          lives[shown[result]].dies = std::max(lives[shown[result]].dies, lives[op.out[i]].dies);
  }
}

}  // namespace lethe
