#include "memopt/passes/release.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/run/prepared.h"

namespace lethe {
namespace {

/// What becomes of one buffer in the step.
struct Use {
  bool pinned = false;
  BlockId block = -1;  // around all its vars
  Life life = {};
  VarId last = kNone;  // the var that dies last
};

class Blocks {
 public:
  explicit Blocks(const Program& program) : program_(program) {}

  BlockId around(BlockId a, BlockId b) const {
    while (depth(a) > depth(b)) a = program_.blocks[a].parent;
    while (depth(b) > depth(a)) b = program_.blocks[b].parent;
    for (; a != b; b = program_.blocks[b].parent) a = program_.blocks[a].parent;
    return a;
  }

 private:
  int depth(BlockId block) const {
    int depth = 0;
    for (; block > 0; block = program_.blocks[block].parent) ++depth;
    return depth;
  }
  const Program& program_;
};

/// The block in which each var may be given back at the earliest: its own, but results are taken after their block.
std::vector<BlockId> blocks_of(const Program& program) {
  std::vector<BlockId> blocks;
  for (const Var& var : program.vars) blocks.push_back(var.block);
  for (const Block& block : program.blocks)
    for (const VarId v : block.results) blocks[v] = block.parent;
  return blocks;
}

std::vector<Use> uses_of_buffers(const Program& program, const Liveness& live, const Sharing& sharing,
                                 const Plan& plan) {
  std::vector<Use> uses(plan.buffers.size());
  const Blocks blocks(program);
  const std::vector<BlockId> block_of = blocks_of(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    if (plan.vars[v].buffer < 0 || live.vars[v].is_empty()) continue;
    Use& use = uses[plan.vars[v].buffer];
    use.pinned = use.pinned || sharing.storages[sharing.of[v]].pin != Pin::None;
    use.block = use.block < 0 ? block_of[v] : blocks.around(use.block, block_of[v]);
    if (live.vars[v].dies > use.life.dies) use.last = static_cast<VarId>(v);
    use.life = hull(use.life, live.vars[v]);
  }
  return uses;
}

/// The op of `block` whose steps contain `step`.
int op_at(const Liveness& live, BlockId block, Tick step) {
  const std::vector<OpTicks>& ops = live.ops[block];
  const auto after =
      std::upper_bound(ops.begin(), ops.end(), step, [](Tick s, const OpTicks& op) { return s < op.first; });
  return static_cast<int>(after - ops.begin()) - 1;
}

/// Takes and gives back buffers as an executor would, and remembers how many bytes were held at most. Blocks run twice:
/// what one trip leaves the next one finds. Of a branch both run, so what a step takes may be less.
class Holding {
 public:
  Holding(const Program& program, const Plan& plan)
      : program_(program), plan_(plan), is_held_(plan.buffers.size(), false) {}

  std::int64_t most() {
    visit(0);
    for (std::size_t b = 0; b < is_held_.size(); ++b)
      check(!is_held_[b], "release: buffer ", b, " is never given back");
    return most_;
  }

 private:
  void visit(BlockId block) {
    for (const Op& op : program_.blocks[block].ops) {
      if (op.type == kDeleteVar) {
        give_back(op.in[0]);
        continue;
      }
      for (const VarId v : op.in)
        check(v == kNone || !is_on_demand(v) || is_held_[plan_.vars[v].buffer], "release: ", op.type, " reads '",
              program_.vars[v].name, "', which was given back");
      const std::size_t carried = op.blocks.empty() ? op.out.size() : loop_carried(program_, op);
      const auto take_own = [&] { std::for_each_n(op.out.begin(), carried, [this](VarId v) { take(v); }); };
      if (op.type != kIf) take_own();
      for (int trip = 0; trip < 2; ++trip)
        for (const BlockId body : op.blocks) {
          visit(body);
          if (op.type == kIf) take_own();
        }
    }
  }

  bool is_on_demand(VarId v) const {
    const int buffer = plan_.vars[v].buffer;
    return buffer >= 0 && plan_.buffers[buffer].on_demand;
  }

  void take(VarId v) {
    if (!is_on_demand(v) || is_held_[plan_.vars[v].buffer]) return;
    is_held_[plan_.vars[v].buffer] = true;
    most_ = std::max(most_, held_ += plan_.buffers[plan_.vars[v].buffer].bytes);
  }

  void give_back(VarId v) {
    check(is_on_demand(v) && is_held_[plan_.vars[v].buffer], "release: '", program_.vars[v].name,
          "' is given back while it is not held");
    is_held_[plan_.vars[v].buffer] = false;
    held_ -= plan_.buffers[plan_.vars[v].buffer].bytes;
  }

  const Program& program_;
  const Plan& plan_;
  std::vector<bool> is_held_;  // by buffer
  std::int64_t held_ = 0, most_ = 0;
};

/// Puts `deleted[i]` after op i of a block, and as many empty places after that of its workspace.
void insert(std::vector<Op>& ops, std::vector<Place>& workspaces, const std::vector<std::vector<VarId>>& deleted) {
  std::vector<Op> all;
  std::vector<Place> places;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Role role = ops[i].role;
    all.push_back(std::move(ops[i]));
    places.push_back(workspaces[i]);
    for (const VarId v : deleted[i]) {
      all.push_back({.type = kDeleteVar, .in = {v}, .role = role});
      places.emplace_back();
    }
  }
  ops = std::move(all);
  workspaces = std::move(places);
}

}  // namespace

Program release_memory(Program program, const Liveness& live, const Sharing& sharing, Plan& plan) {
  const std::vector<Use> uses = uses_of_buffers(program, live, sharing, plan);
  std::vector<std::vector<std::vector<VarId>>> deleted(program.blocks.size());
  for (std::size_t b = 0; b < deleted.size(); ++b) deleted[b].resize(program.blocks[b].ops.size());
  for (std::size_t b = 0; b < uses.size(); ++b) {
    const Use& use = uses[b];
    if (use.pinned || use.last == kNone) continue;  // held throughout; no var that is used: a workspace, above all
    plan.buffers[b].on_demand = true;
    plan.bytes.temps -= plan.buffers[b].bytes;
    deleted[use.block][op_at(live, use.block, use.life.dies - 1)].push_back(use.last);
  }
  for (std::size_t b = 0; b < program.blocks.size(); ++b) insert(program.blocks[b].ops, plan.workspaces[b], deleted[b]);
  plan.on_demand = Holding(program, plan).most();
  plan.bytes.temps += plan.on_demand;
  return program;
}

}  // namespace lethe
