#include "framework/executor.h"

#include "framework/error.h"

namespace lethe {

Executor::Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store)
    : program_(program), device_(store.device()) {
  check(program.blocks.size() == 1, "programs with sub-blocks cannot run yet");
  store.add(program);
  for (const std::int64_t bytes : plan.buffers) buffers_.emplace_back(device_, bytes);
  addresses_.resize(program.vars.size());
  const std::vector<VarId> storage = storage_of(program);
  for (std::size_t v = 0; v < program.vars.size(); ++v) {
    const Place place = plan.vars[v];
    addresses_[v] = place.buffer < 0 ? store.data(program.vars[storage[v]].name)
                                     : static_cast<std::byte*>(buffers_[place.buffer].data()) + place.offset;
  }
  const auto slots_of = [&](const std::vector<VarId>& vars) {
    std::vector<void*> slots;
    for (const VarId v : vars) slots.push_back(v == kNone ? nullptr : addresses_[v]);
    slots_.push_back(std::move(slots));
    return slots_.back().data();
  };
  void* const workspace = plan.workspace < 0 ? nullptr : buffers_[plan.workspace].data();
  for (const Op& op : program.blocks[0].ops) {
    if (runs_nothing(op)) continue;
    const KernelArgs args{slots_of(op.in), slots_of(op.out), workspace, device_.stream()};
    calls_.push_back({&prepared.kernel(program, op), &op, args});
  }
}

void Executor::run() {
  for (const Call& call : calls_) {
    call.kernel->run(call.args);
    if (observer_) observer_(*call.op, call.args.outputs);
  }
}

void Executor::feed(VarId var, const void* data, std::int64_t bytes) {
  const Var& target = program_.vars[var];
  check(target.kind == Kind::Input, "'", target.name, "' is no input");
  check(bytes == bytes_of(target), "input '", target.name, "' has ", bytes_of(target), " bytes, given ", bytes);
  device_.copy_in(addresses_[var], data, bytes);
}

void Executor::fetch(VarId var, void* data, std::int64_t bytes) const {
  const Var& source = program_.vars[var];
  check(bytes == bytes_of(source), "'", source.name, "' has ", bytes_of(source), " bytes, asked for ", bytes);
  device_.synchronize();
  device_.copy_out(data, addresses_[var], bytes);
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
