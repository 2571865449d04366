#include "memopt/analysis/liveness.h"

#include <algorithm>

#include "framework/language/control_flow.h"
#include "framework/run/prepared.h"

namespace lethe {
namespace {

class Walk {
 public:
  explicit Walk(const Program& program) : program_(program) {
    live_.vars.resize(program.vars.size());
    live_.ops.resize(program.blocks.size());
    for (std::size_t v = 0; v < program.vars.size(); ++v) {
      if (program.vars[v].kind == Kind::Input) live_.vars[v] = {.born = 0, .dies = 0};
      if (is_persistable(program.vars[v].kind)) live_.vars[v] = {.born = 0, .dies = kForever};
    }
  }

  Liveness run() && {
    visit_block(0);
    return std::move(live_);
  }

 private:
  void visit_block(BlockId id) {
    const std::vector<Op>& ops = program_.blocks[id].ops;
    live_.ops[id].resize(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) visit_op(id, static_cast<int>(i));
  }

  void visit_op(BlockId block, int index) {
    const Op& op = program_.blocks[block].ops[index];
    if (op.type == kDeleteVar) {
      live_.ops[block][index] = {live_.ticks(), live_.ticks() - 1};
      return;
    }
    const Tick first = next_step(block, index);
    Tick last = first;
    for (const BlockId body : op.blocks) {
      visit_block(body);
      last = next_step(block, index);
      touch(program_.blocks[body].results, last, last);
    }
    live_.ops[block][index] = {first, last};
    const auto own = op.in.begin() + static_cast<std::ptrdiff_t>(op.type == kWhile ? loop_carried(program_, op) : 0);
    touch({op.in.begin(), own}, first, first);
    touch({own, op.in.end()}, first, last);
    touch(op.out, first, last);
  }

  Tick next_step(BlockId block, int index) {
    live_.at.emplace_back(block, index);
    return live_.ticks() - 1;
  }

  void touch(const std::vector<VarId>& vars, Tick first, Tick last) {
    for (const VarId v : vars)
      if (v != kNone) live_.vars[v] = hull(live_.vars[v], {first, last + 1});
  }

  const Program& program_;
  Liveness live_;
};

}  // namespace

Life hull(Life a, Life b) { return {std::min(a.born, b.born), std::max(a.dies, b.dies)}; }

Liveness liveness(const Program& program) { return Walk(program).run(); }

}  // namespace lethe
