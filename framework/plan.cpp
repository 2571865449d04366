#include "framework/plan.h"

#include <algorithm>
#include <numeric>

#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {

std::vector<VarId> storage_of(const Program& program) {
  std::vector<VarId> storage(program.vars.size());
  std::iota(storage.begin(), storage.end(), 0);
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (op_def(op.type).view) storage[op.out[0]] = storage[op.in[0]];
  return storage;
}

Plan plan_none(const Program& program, Prepared& prepared) {
  Plan plan;
  plan.vars.resize(program.vars.size());
  const std::vector<VarId> storage = storage_of(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Var& var = program.vars[v];
    if (storage[v] != static_cast<VarId>(v)) {
      plan.vars[v] = plan.vars[storage[v]];
      continue;
    }
    const std::int64_t bytes = bytes_of(var);
    switch (var.kind) {
      case Kind::Param:
        plan.bytes.params += bytes;
        continue;
      case Kind::State:
        plan.bytes.states += bytes;
        continue;
      case Kind::Input:
        plan.bytes.inputs += bytes;
        break;
      case Kind::Temp:
        plan.bytes.temps += bytes;
        break;
    }
    plan.vars[v] = {.buffer = static_cast<int>(plan.buffers.size())};
    plan.buffers.push_back(bytes);
  }
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      if (!runs_nothing(op))
        plan.bytes.workspace = std::max(plan.bytes.workspace, prepared.workspace_bytes(program, op));
  if (plan.bytes.workspace > 0) {
    plan.workspace = static_cast<int>(plan.buffers.size());
    plan.buffers.push_back(plan.bytes.workspace);
  }
  return plan;
}

}  // namespace lethe
