#include "framework/executor.h"

#include <algorithm>

#include "framework/control_flow.h"
#include "framework/error.h"

namespace lethe {

Executor::Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store, Buffer* arena)
    : program_(program), device_(store.device()), places_(plan.vars), planned_(plan.buffers), kept_(plan.kept) {
  store.add(program);
  take_buffers(plan, arena);
  find_in_store(store);
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    calls_.push_back(make_calls(static_cast<BlockId>(b), plan, prepared));
  records_ = device_.records() && !any_on_demand_;
  make_pieces();
}

void Executor::take_buffers(const Plan& plan, Buffer* arena) {
  buffers_.resize(planned_.size());
  bases_.resize(planned_.size());
  for (std::size_t b = 0; b < planned_.size(); ++b) {
    any_on_demand_ = any_on_demand_ || planned_[b].on_demand;
    if (planned_[b].on_demand) continue;
    const bool given = b == 0 && arena;
    check_as(Exit::Internal, !given || arena->bytes() >= planned_[b].bytes, "an arena of ", arena ? arena->bytes() : 0,
             " bytes was given for a plan of ", plan.buffers[b].bytes);
    if (!given) buffers_[b] = Buffer(device_, planned_[b].bytes);
    bases_[b] = given ? arena->data() : buffers_[b].data();
  }
}

void Executor::find_in_store(Store& store) {
  in_store_.resize(program_.vars.size());
  const std::vector<VarId> storage = storage_of(program_);
  for (std::size_t v = 0; v < program_.vars.size(); ++v)
    if (is_persistable(program_.vars[storage[v]].kind)) in_store_[v] = store.data(program_.vars[storage[v]].name);
}

std::vector<Executor::Call> Executor::make_calls(BlockId block, const Plan& plan, Prepared& prepared) {
  std::vector<Call> calls;
  const std::vector<Op>& ops = program_.blocks[block].ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (!op.blocks.empty())
      calls.push_back({.op = &op, .carries = make_carries(op, prepared)});
    else if (op.type == kDeleteVar)
      calls.push_back({.op = &op});
    else if (!runs_nothing(op))
      calls.push_back(make_call(op, plan.workspaces[block][i], prepared));
  }
  return calls;
}

Executor::Call Executor::make_call(const Op& op, Place workspace, Prepared& prepared) {
  const auto slots_of = [&](const std::vector<VarId>& vars) {
    std::vector<void*>& slots = slots_.emplace_back();
    for (const VarId v : vars) slots.push_back(v == kNone ? nullptr : address(v));
    return slots.data();
  };
  Call call{.kernel = &prepared.kernel(program_, op),
            .op = &op,
            .args = {},
            .inputs = slots_of(op.in),
            .outputs = slots_of(op.out)};
  void* const scratch =
      workspace.buffer < 0 ? nullptr : static_cast<std::byte*>(bases_[workspace.buffer]) + workspace.offset;
  call.args = {call.inputs, call.outputs, scratch, device_.stream()};
  return call;
}

Executor::Call Executor::make_copy(VarId from, VarId to, Prepared& prepared) {
  copies_.push_back(std::make_unique<Op>(Op{.type = "assign", .in = {from}, .out = {to}}));
  return make_call(*copies_.back(), {}, prepared);
}

int Executor::make_carries(const Op& op, Prepared& prepared) {
  Carries carries{.max_trips = op.type == kWhile ? op.attrs.integer(kMaxTrips) : 0};
  const std::size_t carried = carried_by(program_, op);
  for (std::size_t i = 0; op.type == kWhile && i < carried; ++i)
    carries.enter.push_back(make_copy(op.in[i], op.out[i], prepared));
  for (const BlockId body : op.blocks) {
    std::vector<Call>& leave = carries.leave.emplace_back();
    const std::vector<VarId>& results = program_.blocks[body].results;
    const bool is_condition = op.type == kWhile && body == op.blocks.front();
    for (std::size_t i = 0; !is_condition && i < carried; ++i)
      leave.push_back(make_copy(results[i], op.out[i], prepared));
  }
  carries_.push_back(std::move(carries));
  return static_cast<int>(carries_.size()) - 1;
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

void Executor::make_pieces() {
  for (const std::vector<Call>& calls : calls_) {
    std::vector<Piece>& pieces = pieces_.emplace_back();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const bool goes_on = i > 0 && calls[i].carries < 0 && calls[i - 1].carries < 0;
      if (!goes_on) pieces.push_back({i, i});
      pieces.back().end = i + 1;
    }
  }
}

void Executor::run() {
  stopped_loops_ = 0;
  run_block(0);
}

void Executor::run_block(BlockId block) {
  std::vector<Call>& calls = calls_[block];
  for (Piece& piece : pieces_[block]) {
    const Call& first = calls[piece.begin];
    if (first.carries < 0)
      run_calls(calls, piece);
    else if (carries_[first.carries].max_trips > 0)
      run_loop(*first.op, carries_[first.carries]);
    else
      run_branch(*first.op, carries_[first.carries]);
  }
}

void Executor::run_calls(std::vector<Call>& calls, Piece& piece) {
  const auto one_by_one = [this, &calls, begin = piece.begin, end = piece.end] {
    for (std::size_t i = begin; i < end; ++i)
      if (calls[i].kernel)
        run_kernel(calls[i]);
      else
        give_back(calls[i].op->in[0]);
  };
  if (!records_ || observer_ || !piece.warm) {
    piece.warm = true;
    return one_by_one();
  }
  if (!piece.recorded) piece.recorded = device_.record(one_by_one);
  piece.recorded();
}

void Executor::run_kernel(Call& call) {
  if (any_on_demand_) take_memory(call);
  if (observer_) observer_->before(*call.op, call.args);
  call.kernel->run(call.args);
  if (observer_) observer_->after(*call.op, call.args);
}

void Executor::run_loop(const Op& op, Carries& carries) {
  const VarId condition = program_.blocks[op.blocks[0]].results[0];
  hand_on(carries.enter);
  for (std::int64_t trips = 0;; ++trips) {
    run_block(op.blocks[0]);
    if (!is_true(condition)) return;
    if (trips == carries.max_trips) {
      ++stopped_loops_;
      return;
    }
    run_block(op.blocks[1]);
    hand_on(carries.leave[1]);
  }
}

void Executor::run_branch(const Op& op, Carries& carries) {
  const std::size_t taken = is_true(op.in[0]) ? 0 : 1;
  run_block(op.blocks[taken]);
  hand_on(carries.leave[taken]);
}

/// Where the plan has put both into the same memory, nothing is to be done.
void Executor::hand_on(std::vector<Call>& copies) {
  for (Call& copy : copies) {
    if (any_on_demand_) take_memory(copy);
    if (copy.inputs[0] != copy.outputs[0]) copy.kernel->run(copy.args);
    if (observer_) observer_->carried(*copy.op, copy.args);
  }
}

void Executor::give_back(VarId var) {
  buffers_[places_[var].buffer] = Buffer();
  bases_[places_[var].buffer] = nullptr;
  if (observer_) observer_->deleted(var);
}

bool Executor::is_true(VarId condition) {
  std::uint8_t value = 0;
  device_.synchronize();
  device_.copy_out(&value, address(condition), sizeof value);
  return value != 0;
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
