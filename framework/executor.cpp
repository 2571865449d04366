#include "framework/executor.h"

#include <algorithm>

#include "framework/error.h"

namespace lethe {

Executor::Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store, Buffer* arena)
    : program_(program), device_(store.device()), places_(plan.vars), planned_(plan.buffers), kept_(plan.kept) {
  check(program.blocks.size() == 1, "programs with sub-blocks cannot run yet");
  store.add(program);
  buffers_.resize(planned_.size());
  bases_.resize(planned_.size());
  for (std::size_t b = 0; b < planned_.size(); ++b) {
    any_on_demand_ = any_on_demand_ || planned_[b].on_demand;
    if (planned_[b].on_demand) continue;
    const bool given = b == 0 && arena;
    check_as(Exit::Internal, !given || arena->bytes() >= planned_[b].bytes, "an arena of ", arena ? arena->bytes() : 0,
             " bytes was given for a plan of ", planned_[b].bytes);
    if (!given) buffers_[b] = Buffer(device_, planned_[b].bytes);
    bases_[b] = given ? arena->data() : buffers_[b].data();
  }
  in_store_.resize(program.vars.size());
  const std::vector<VarId> storage = storage_of(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v)
    if (is_persistable(program.vars[storage[v]].kind)) in_store_[v] = store.data(program.vars[storage[v]].name);
  const std::vector<Op>& ops = program.blocks[0].ops;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].type == kDeleteVar || !runs_nothing(ops[i]))
      calls_.push_back(make_call(ops[i], plan.workspaces[0][i], prepared));
}

Executor::Call Executor::make_call(const Op& op, Place workspace, Prepared& prepared) {
  const auto slots_of = [&](const std::vector<VarId>& vars) {
    std::vector<void*>& slots = slots_.emplace_back();
    for (const VarId v : vars) slots.push_back(v == kNone ? nullptr : address(v));
    return slots.data();
  };
  Call call{.kernel = op.type == kDeleteVar ? nullptr : &prepared.kernel(program_, op),
            .op = &op,
            .args = {},
            .inputs = slots_of(op.in),
            .outputs = slots_of(op.out)};
  void* const scratch =
      workspace.buffer < 0 ? nullptr : static_cast<std::byte*>(bases_[workspace.buffer]) + workspace.offset;
  call.args = {call.inputs, call.outputs, scratch, device_.stream()};
  return call;
}

void* Executor::address(VarId var) const {
  const Place place = places_[var];
  if (place.buffer < 0) return in_store_[var];
  void* const base = bases_[place.buffer];
  return base ? static_cast<std::byte*>(base) + place.offset : nullptr;
}

/// Buffers move from step to step: what the op writes is taken now, and its arguments are looked up again.
void Executor::take_memory(Call& call) {
  for (const VarId v : call.op->out) {
    const int b = places_[v].buffer;
    if (b < 0 || bases_[b]) continue;
    buffers_[b] = Buffer(device_, planned_[b].bytes);
    bases_[b] = buffers_[b].data();
  }
  const auto look_up = [&](VarId v) { return v == kNone ? nullptr : address(v); };
  std::transform(call.op->in.begin(), call.op->in.end(), call.inputs, look_up);
  std::transform(call.op->out.begin(), call.op->out.end(), call.outputs, look_up);
}

void Executor::run() {
  for (Call& call : calls_) {
    if (!call.kernel) {
      const VarId deleted = call.op->in[0];
      buffers_[places_[deleted].buffer] = Buffer();
      bases_[places_[deleted].buffer] = nullptr;
      if (observer_) observer_->deleted(deleted);
      continue;
    }
    if (any_on_demand_) take_memory(call);
    if (observer_) observer_->before(*call.op, call.args);
    call.kernel->run(call.args);
    if (observer_) observer_->after(*call.op, call.args);
  }
}

void Executor::feed(VarId var, const void* data, std::int64_t bytes) {
  const Var& target = program_.vars[var];
  check(target.kind == Kind::Input, "'", target.name, "' is no input");
  check(bytes == bytes_of(target), "input '", target.name, "' has ", bytes_of(target), " bytes, given ", bytes);
  device_.copy_in(address(var), data, bytes);
}

void Executor::fetch(VarId var, void* data, std::int64_t bytes) const {
  const Var& source = program_.vars[var];
  check(bytes == bytes_of(source), "'", source.name, "' has ", bytes_of(source), " bytes, asked for ", bytes);
  const void* const from = address(var);
  check(from && (kept_.empty() || kept_[var]), "'", source.name,
        "' does not keep its memory to the end of the step; name it in --skip-vars");
  device_.synchronize();
  device_.copy_out(data, from, bytes);
}

double Executor::fetch_scalar(VarId var) const {
  const Var& source = program_.vars[var];
  if (source.dtype == DType::f64) {
    double value = 0;
    fetch(var, &value, sizeof value);
    return value;
  }
  check(source.dtype == DType::f32, "'", source.name, "' is ", text_of(source), ", expected a float scalar");
  float value = 0;
  fetch(var, &value, sizeof value);
  return value;
}

}  // namespace lethe
