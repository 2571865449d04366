#include "framework/run/plan.h"

#include <algorithm>

#include "framework/language/views.h"

namespace lethe {
namespace {

/// All ops share one buffer, which stands after the others.
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

Plan plan_buffers(const Program& program, std::vector<Place> places, const Workspaces& workspaces) {
  Plan plan;
  plan.vars = std::move(places);
  std::vector<bool> holds_input;
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Place place = plan.vars[v];
    const auto buffer = static_cast<std::size_t>(place.buffer);
    if (place.buffer < 0) continue;
    if (buffer >= plan.buffers.size()) {
      plan.buffers.resize(buffer + 1);
      holds_input.resize(buffer + 1);
    }
    plan.buffers[buffer].bytes = std::max(plan.buffers[buffer].bytes, place.offset + span_of(program.vars[v]));
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
  const std::vector<View> views = views_of(program);
  std::vector<int> buffer(program.vars.size(), -1);  // of roots
  int count = 0;
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (views[v].root == static_cast<VarId>(v) && !is_persistable(program.vars[v].kind)) buffer[v] = count++;
  std::vector<Place> places(program.vars.size());
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (buffer[views[v].root] >= 0) places[v] = {buffer[views[v].root], views[v].offset};
  return plan_buffers(program, std::move(places), workspaces);
}

}  // namespace lethe
