#include "framework/run/executor.h"

#include <algorithm>

#include "framework/error.h"
#include "framework/ranks/peers.h"

namespace lethe {

Executor::Executor(const Program& program, const Plan& plan, Prepared& prepared, Store& store, Buffer* arena)
    : program_(program),
      device_(store.device()),
      kept_(plan.kept),
      memory_(program, plan, store, arena),
      calls_(make_calls(program, plan, prepared, memory_, device_)),
      records_(device_.records() && !memory_.any_on_demand()),
      next_(device_, rooms_of(plan.staging)) {}

std::vector<NextInputs::Room> Executor::rooms_of(const Staging& staging) const {
  std::vector<NextInputs::Room> rooms(program_.vars.size());
  for (std::size_t v = 0; v < rooms.size(); ++v) {
    if (program_.vars[v].kind == Kind::Input) rooms[v].place = memory_.address(static_cast<VarId>(v));
    if (v < staging.inputs.size()) rooms[v].staged = memory_.address(staging.inputs[v]);
  }
  return rooms;
}

void Executor::run() {
  device_.compute([this] {
    stopped_loops_ = 0;
    next_.take();
    run_block(0);
  });
}

void Executor::run_block(BlockId block) {
  std::vector<Call>& calls = calls_.blocks[block];
  for (Piece& piece : calls_.pieces[block]) {
    const Call& first = calls[piece.begin];
    if (piece.marks) device_.mark();
    if (first.carries < 0)
      run_calls(calls, piece);
    else if (calls_.carries[first.carries].max_trips > 0)
      run_loop(*first.op, calls_.carries[first.carries]);
    else
      run_branch(*first.op, calls_.carries[first.carries]);
  }
}

void Executor::run_calls(std::vector<Call>& calls, Piece& piece) {
  const auto one_by_one = [this, &calls, begin = piece.begin, end = piece.end] {
    for (std::size_t i = begin; i < end; ++i) {
      if (!calls[i].kernel)
        give_back(calls[i].op->in[0]);
      else if (calls[i].group < 0 || observer_)
        run_kernel(calls[i]);
      else
        i += run_group(calls_.groups[calls[i].group]) - 1;
    }
    if (Peers* const peers = records_ ? device_.value_peers() : nullptr) peers->finish_piece();
  };
  if (!records_ || observer_ || !piece.warm) {
    piece.warm = true;
    return one_by_one();
  }
  if (!piece.recorded) {
    piece.recorded = device_.record(one_by_one);
    replays_ = replays_.value_or(true) && piece.recorded;
    if (!piece.recorded) piece.recorded = one_by_one;
  }
  piece.recorded();
}

void Executor::run_kernel(Call& call) {
  if (memory_.any_on_demand()) take_memory(call);
  if (observer_) observer_->before(*call.op, call.args);
  call.kernel->run(call.args);
  if (observer_) observer_->after(*call.op, call.args);
}

/// How many they were.
std::size_t Executor::run_group(const std::vector<KernelCall>& calls) {
  calls.front().kernel->run_group(calls);
  return calls.size();
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
    if (memory_.any_on_demand()) take_memory(copy);
    if (copy.inputs[0] != copy.outputs[0]) copy.kernel->run(copy.args);
    if (observer_) observer_->carried(*copy.op, copy.args);
  }
}

/// Buffers move from step to step: what the op writes is taken now.
void Executor::take_memory(Call& call) {
  for (const VarId v : call.op->out) memory_.take(v);
  look_up(memory_, call);
}

void Executor::give_back(VarId var) {
  memory_.give_back(var);
  if (observer_) observer_->deleted(var);
}

bool Executor::is_true(VarId condition) {
  std::uint8_t value = 0;
  device_.copy_out(&value, memory_.address(condition), sizeof value);
  return value != 0;
}

void Executor::check_feed(VarId var, std::int64_t bytes) const {
  const Var& target = program_.vars[var];
  check(target.kind == Kind::Input, "'", target.name, "' is no input");
  check(bytes == bytes_of(target), "input '", target.name, "' has ", bytes_of(target), " bytes, given ", bytes);
}

void Executor::feed(VarId var, const void* data, std::int64_t bytes) {
  check_feed(var, bytes);
  device_.copy_in(memory_.address(var), data, bytes);
}

void Executor::feed_next(VarId var, const void* data, std::int64_t bytes) {
  check_feed(var, bytes);
  next_.give(var, data, bytes);
}

const void* Executor::address(VarId var) const {
  const Var& source = program_.vars[var];
  const void* const from = memory_.address(var);
  check(from && (kept_.empty() || kept_[var]), "'", source.name,
        "' does not keep its memory to the end of the step; name it in `skip_vars`");
  check(source.pitch == 0, "'", source.name, "' is a part of a wider var; name it in `skip_vars`");
  return from;
}

void Executor::fetch(VarId var, void* data, std::int64_t bytes) const {
  const Var& source = program_.vars[var];
  check(bytes == bytes_of(source), "'", source.name, "' has ", bytes_of(source), " bytes, asked for ", bytes);
  device_.copy_out(data, address(var), bytes);
}

double Executor::fetch_scalar(VarId var) const {
  alignas(double) std::byte value[sizeof(double)] = {};
  scalar_of(program_.vars[var], value);  // fails if it is none
  fetch(var, value, bytes_of(program_.vars[var]));
  return scalar_of(program_.vars[var], value);
}

double scalar_of(const Var& var, const void* value) {
  const bool is_f64 = var.dtype == DType::f64;
  check((is_f64 || var.dtype == DType::f32) && elements(var.shape) == 1, "'", var.name, "' is ", text_of(var),
        ", expected a float scalar");
  return is_f64 ? *static_cast<const double*>(value) : *static_cast<const float*>(value);
}

}  // namespace lethe
