#include "framework/plan.h"

#include <algorithm>
#include <numeric>

#include "framework/op_def.h"

namespace lethe {
namespace {

/// All ops share one buffer, which stands behind the others.
void add_workspace(const Workspaces& workspaces, Plan& plan) {
  const auto buffer = static_cast<int>(plan.buffers.size());
  for (const std::vector<std::int64_t>& of_op : workspaces.bytes) {
    std::vector<Place>& places = plan.workspaces.emplace_back(of_op.size());
    for (std::size_t i = 0; i < of_op.size(); ++i) {
      if (of_op[i] > 0) places[i].buffer = buffer;
      plan.bytes.workspace = std::max(plan.bytes.workspace, of_op[i]);
    }
  }
  if (plan.bytes.workspace > 0) plan.buffers.push_back({plan.bytes.workspace});
}

}  // namespace

std::vector<VarId> view_root(const Program& program) {
  std::vector<VarId> storage(program.vars.size());
  std::iota(storage.begin(), storage.end(), 0);
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (op_def(op.type).view) storage[op.out[0]] = storage[op.in[0]];
  return storage;
}

Plan plan_buffers(const Program& program, const std::vector<int>& buffers, const Workspaces& workspaces) {
  Plan plan;
  plan.vars.resize(program.vars.size());
  std::vector<bool> holds_input;
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const auto buffer = static_cast<std::size_t>(buffers[v]);
    if (buffers[v] < 0) continue;
    plan.vars[v].buffer = buffers[v];
    if (buffer >= plan.buffers.size()) {
      plan.buffers.resize(buffer + 1);
      holds_input.resize(buffer + 1);
    }
    plan.buffers[buffer].bytes = std::max(plan.buffers[buffer].bytes, bytes_of(program.vars[v]));
    if (program.vars[v].kind == Kind::Input) holds_input[buffer] = true;
  }
  for (std::size_t b = 0; b < plan.buffers.size(); ++b)
    (holds_input[b] ? plan.bytes.inputs : plan.bytes.temps) += plan.buffers[b].bytes;
  for (const Var& var : program.vars) {
    if (var.kind == Kind::Param) plan.bytes.params += bytes_of(var);
    if (var.kind == Kind::State) plan.bytes.states += bytes_of(var);
  }
  add_workspace(workspaces, plan);
  return plan;
}

Plan plan_none(const Program& program, const Workspaces& workspaces) {
  const std::vector<VarId> storage = view_root(program);
  std::vector<int> buffers(program.vars.size(), -1);
  int count = 0;
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    if (is_persistable(program.vars[storage[v]].kind)) continue;
    buffers[v] = storage[v] == static_cast<VarId>(v) ? count++ : buffers[storage[v]];
  }
  return plan_buffers(program, buffers, workspaces);
}

}  // namespace lethe
