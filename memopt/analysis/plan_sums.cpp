#include "memopt/analysis/plan_sums.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_facts.h"
#include "framework/run/prepared.h"

namespace lethe {

void check_sizes(const Program& program, const Plan& plan) {
  const auto fits = [](std::size_t size, std::size_t expected) { return size == 0 || size == expected; };
  const std::size_t vars = program.vars.size();
  const std::vector<Place>& staged = plan.staging.inputs;
  bool right = plan.vars.size() == vars && fits(plan.kept.size(), vars) && fits(staged.size(), vars) &&
               plan.workspaces.size() == program.blocks.size();
  for (std::size_t b = 0; right && b < plan.workspaces.size(); ++b)
    right = plan.workspaces[b].size() == program.blocks[b].ops.size();
  check(right, "plan: is of another program");
  const std::vector<Op>& ops = program.blocks[0].ops;
  const int op = plan.staging.op;
  const bool is_call =
      op >= 0 && op < static_cast<int>(ops.size()) && (!ops[op].blocks.empty() || !runs_nothing(ops[op]));
  check(staged.empty() || is_call, "plan: inputs are staged from op ", op, ", which is no call");
}

void check_bytes(const Program& program, const Plan& plan, std::int64_t most_on_demand) {
  std::int64_t bytes = plan.on_demand;
  const bool branches = std::any_of(program.blocks.begin(), program.blocks.end(), [](const Block& block) {
    return std::any_of(block.ops.begin(), block.ops.end(), [](const Op& op) { return op.type == kIf; });
  });
  check(most_on_demand == plan.on_demand || (branches && most_on_demand < plan.on_demand), "plan: says that ",
        plan.on_demand, " bytes are held on demand, but takes ", most_on_demand);
  for (const PlannedBuffer& buffer : plan.buffers) bytes += buffer.on_demand ? 0 : buffer.bytes;
  for (const Var& var : program.vars) bytes += is_persistable(var.kind) ? bytes_of(var) : 0;
  check(plan.bytes.total() == bytes, "plan: says ", plan.bytes.total(), " bytes, but takes ", bytes);
}

}  // namespace lethe
