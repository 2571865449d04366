#include "tests/support/interpreter.h"

#include <cmath>

#include "framework/error.h"
#include "framework/random.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

const Program& with_one_block(const Program& program) {
  check(program.blocks.size() == 1, "tests: the interpreter knows no sub-blocks");
  return program;
}

/// Slots that share memory: those asked for, and those of an op that updates in place anyway.
std::vector<InPlace> shared_slots(const Op& op, const std::vector<InPlace>& aliased) {
  std::vector<InPlace> shared = aliased;
  if (op_def(op.type).updates)
    for (int slot = 0; slot < static_cast<int>(op.out.size()); ++slot) shared.push_back({.in = slot, .out = slot});
  return shared;
}

}  // namespace

Interpreter::Interpreter(const Program& program, DeviceInfo device)
    : program_(with_one_block(program)), device_(std::move(device)), kernels_(program.blocks[0].ops.size()) {
  for (const Var& var : program.vars) memory_.emplace_back(bytes_of(var));
}

double Interpreter::number(VarId var, std::int64_t i) const {
  return number_at(program_.vars[var].dtype, memory(var).data(), i);
}

void Interpreter::set(VarId var, std::int64_t i, double value) {
  set_number(program_.vars[var].dtype, memory(var).data(), i, value);
}

void Interpreter::fill_uniform(VarId var, double low, double high, std::uint64_t stream) {
  Random random(11, stream);
  const bool whole = !is_float(program_.vars[var].dtype);
  for (std::int64_t i = 0; i < elements(program_.vars[var].shape); ++i) {
    const double value = static_cast<float>(low + (high - low) * random.uniform());
    set(var, i, whole ? std::floor(value) : value);
  }
}

void Interpreter::run() {
  for (std::size_t op = 0; op < kernels_.size(); ++op) run_op(op);
}

const Kernel* Interpreter::kernel(std::size_t index) {
  const Op& op = program_.blocks[0].ops[index];
  const OpDef& def = op_def(op.type);
  if (def.view) return nullptr;
  if (!kernels_[index]) {
    const PrepareKernel prepare = device_.kind == DeviceKind::Cpu ? def.kernels.cpu : def.kernels.cuda;
    check(prepare != nullptr, "op '", op.type, "' has no kernel for ", device_.name);
    kernels_[index] = prepare({program_, op, device_});
  }
  return kernels_[index].get();
}

void Interpreter::run_op(std::size_t index) {
  const Op& op = program_.blocks[0].ops[index];
  const Kernel* const run = kernel(index);
  if (!run) return memory(op.out[0]).copy_from(memory(op.in[0]));
  std::vector<void*> in, out;
  for (const VarId v : op.in) in.push_back(v == kNone ? nullptr : memory(v).data());
  for (const VarId v : op.out) out.push_back(memory(v).data());
  const Guarded workspace(run->workspace_bytes());
  run->run({in.data(), out.data(), run->workspace_bytes() > 0 ? workspace.data() : nullptr, nullptr});
}

Trial try_op(const Interpreter& values, const Op& op, const Kernel& kernel, std::byte fill,
             const std::vector<InPlace>& aliased) {
  Trial trial;
  const std::vector<InPlace> shared = shared_slots(op, aliased);
  std::vector<Guarded> inputs;
  std::vector<void*> in, out;
  for (const VarId v : op.in) {
    inputs.emplace_back(v == kNone ? 0 : values.memory(v).bytes());
    if (v != kNone) inputs.back().copy_from(values.memory(v));
    in.push_back(v == kNone ? nullptr : inputs.back().data());
  }
  for (const VarId v : op.out) {
    trial.outputs.emplace_back(values.memory(v).bytes(), fill);
    out.push_back(trial.outputs.back().data());
  }
  for (const InPlace& pair : shared) out[static_cast<std::size_t>(pair.out)] = in[static_cast<std::size_t>(pair.in)];
  const Guarded workspace(kernel.workspace_bytes(), fill);
  kernel.run({in.data(), out.data(), workspace.bytes() > 0 ? workspace.data() : nullptr, nullptr});

  std::vector<bool> may_change(op.in.size(), false);
  for (const InPlace& pair : shared) {
    may_change[static_cast<std::size_t>(pair.in)] = true;
    trial.outputs[static_cast<std::size_t>(pair.out)].copy_from(inputs[static_cast<std::size_t>(pair.in)]);
  }
  for (std::size_t slot = 0; slot < op.in.size(); ++slot) {
    if (!inputs[slot].intact()) trial.harm = message("memory beside input ", slot);
    if (op.in[slot] != kNone && !may_change[slot] && !inputs[slot].holds_same(values.memory(op.in[slot])))
      trial.harm = message("input ", slot);
  }
  for (std::size_t slot = 0; slot < op.out.size(); ++slot)
    if (!trial.outputs[slot].intact()) trial.harm = message("memory beside output ", slot);
  if (!workspace.intact()) trial.harm = "memory beside the workspace";
  return trial;
}

}  // namespace lethe::testing
