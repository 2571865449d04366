#include "framework/run/prepared.h"

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/language/op_facts.h"
#include "framework/timed.h"

namespace lethe {

std::string kernel_signature(const Program& program, const Op& op) {
  std::string text = op.type;
  for (const auto* slots : {&op.in, &op.out})
    for (const VarId v : *slots)
      text.append(v == kNone ? "_" : text_of(program.vars[v])).append(slots == &op.in ? ">" : ";");
  for (const auto& [key, value] : op.attrs) text.append(key).append("=").append(text_of(value)).append(",");
  return text;
}

std::int64_t Prepared::workspace_bytes(const Program& program, const Op& op) {
  return runs_nothing(op) ? 0 : kernel(program, op).workspace_bytes();
}

const Kernel& Prepared::kernel(const Program& program, const Op& op) {
  std::unique_ptr<Kernel>& kept = kernels_[kernel_signature(program, op)];
  if (!kept) {
    const OpDef& def = op_def(op.type);
    const PrepareKernel prepare = device_.kind == DeviceKind::Cpu ? def.kernels.cpu : def.kernels.cuda;
    check(prepare, "op '", op.type, "' has no kernel for ", device_.name);
    const auto make = [&] { kept = timed(kernels_ms_, [&] { return prepare({program, op, device_}); }); };
    with_context(op.out.empty() ? op.type : program.vars[op.out.front()].name,
                 [&] { runs_on_ ? runs_on_->compute(make) : make(); });
  }
  return *kept;
}

Workspaces workspaces_of(const Program& program, Prepared& prepared) {
  Workspaces workspaces{.bytes = {}, .alignment = prepared.device().alignment};
  for (const Block& block : program.blocks) {
    std::vector<std::int64_t>& of_op = workspaces.bytes.emplace_back();
    for (const Op& op : block.ops) of_op.push_back(prepared.workspace_bytes(program, op));
  }
  return workspaces;
}

}  // namespace lethe
