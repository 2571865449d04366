#include "tests/support/interpreter.h"

#include <cmath>

#include "framework/error.h"
#include "framework/language/control_flow.h"
#include "framework/language/op_facts.h"
#include "framework/random.h"
#include "framework/run/prepared.h"
#include "kernels/cpu/workers.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

/// Slots that share memory: those asked for, and those of an op that updates in place anyway.
std::vector<InPlace> shared_slots(const Op& op, const std::vector<InPlace>& aliased) {
  std::vector<InPlace> shared = aliased;
  if (op_def(op.type).updates)
    for (int slot = 0; slot < static_cast<int>(op.out.size()); ++slot) shared.push_back({.in = slot, .out = slot});
  return shared;
}

}  // namespace

Interpreter::Interpreter(const Program& program, DeviceInfo device) : program_(program), device_(std::move(device)) {
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

const Kernel* Interpreter::kernel(const Op& op) {
  if (runs_nothing(op)) return nullptr;
  const OpDef& def = op_def(op.type);
  std::unique_ptr<Kernel>& kept = kernels_[&op];
  if (!kept) {
    const PrepareKernel prepare = device_.kind == DeviceKind::Cpu ? def.kernels.cpu : def.kernels.cuda;
    check(prepare != nullptr, "op '", op.type, "' has no kernel for ", device_.name);
    kept = prepare({program_, op, device_});
  }
  return kept.get();
}

void Interpreter::run_block(BlockId block) {
  for (const Op& op : program_.blocks[block].ops) run_op(op);
}

void Interpreter::run_op(const Op& op) {
  if (op.type == kWhile) return run_loop(op);
  if (op.type == kIf) return run_branch(op);
  const Kernel* const run = kernel(op);
  if (!run) return memory(op.out[0]).copy_from(memory(op.in[0]));
  std::vector<void*> in, out;
  for (const VarId v : op.in) in.push_back(v == kNone ? nullptr : memory(v).data());
  for (const VarId v : op.out) out.push_back(memory(v).data());
  const Guarded workspace(run->workspace_bytes());
  const Workers workers(device_.threads);
  run->run({in.data(), out.data(), run->workspace_bytes() > 0 ? workspace.data() : nullptr, nullptr});
}

void Interpreter::run_loop(const Op& op) {
  const VarId condition = program_.blocks[op.blocks[0]].results[0];
  hand_on(op.in, op);
  for (std::int64_t trip = 0; trip < op.attrs.integer(kMaxTrips); ++trip) {
    run_block(op.blocks[0]);
    if (number(condition) == 0) return;
    run_block(op.blocks[1]);
    hand_on(program_.blocks[op.blocks[1]].results, op);
  }
}

void Interpreter::run_branch(const Op& op) {
  const BlockId taken = op.blocks[number(op.in[0]) != 0 ? 0 : 1];
  run_block(taken);
  hand_on(program_.blocks[taken].results, op);
}

/// All at once: none of what is carried changes before all of it has been read.
void Interpreter::hand_on(const std::vector<VarId>& from, const Op& op) {
  const std::size_t carried = loop_carried(program_, op);
  std::vector<Guarded> values;
  for (std::size_t i = 0; i < carried; ++i) {
    values.emplace_back(memory(from[i]).bytes());
    values.back().copy_from(memory(from[i]));
  }
  for (std::size_t i = 0; i < carried; ++i) memory(op.out[i]).copy_from(values[i]);
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
  const Workers workers(values.threads());
  std::vector<unsigned> tickets(kTickets);
  kernel.run({in.data(), out.data(), workspace.bytes() > 0 ? workspace.data() : nullptr, nullptr, tickets.data()});

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
  if (tickets != std::vector<unsigned>(kTickets)) trial.harm = "a ticket, for the kernels to come";
  return trial;
}

}  // namespace lethe::testing
