#include "tests/memopt/checked_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"
#include "tests/support/rows_apart.h"

namespace lethe::testing {
namespace {

constexpr int kPoison = 0xff;  // a NaN in every float dtype

/// By VarId.
std::vector<CarriedBy> carriers_of(const Program& program) {
  std::vector<CarriedBy> carriers(program.vars.size());
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      for (std::size_t i = 0; i < loop_carried(program, op); ++i) carriers[op.out[i]] = {&op, i};
  return carriers;
}

/// "slice y.1" of a slice_view that gives it.
std::string name_of_copy(const Program& program, const Op& view) {
  for (const OpDef* def : all_ops())
    if (def->as_view && def->as_view == view.type) return program.vars[view.out[0]].name;
  return "";
}

std::string value_of(const Var& var, const void* begin) {
  std::string value;
  for_each_row(var, static_cast<std::byte*>(const_cast<void*>(begin)), [&](const std::byte* row, std::size_t bytes) {
    value.append(reinterpret_cast<const char*>(row), bytes);
  });
  return value;
}

void poison(const Var& var, void* begin) {
  for_each_row(var, static_cast<std::byte*>(begin),
               [](std::byte* row, std::size_t bytes) { std::memset(row, kPoison, bytes); });
}

}  // namespace

std::uint64_t hash_of_value(const std::string& bytes) { return std::hash<std::string>()(bytes); }

CheckedRun::CheckedRun(const Program& program, const Plan& plan, const std::vector<VarId>& pinned, Prepared& prepared)
    : program_(program),
      plan_(plan),
      prepared_(prepared),
      live_(liveness(program)),
      views_(views_of(program)),
      shown_(view_root(program)),
      lives_(program.vars.size()),
      carriers_(carriers_of(program)) {
  for (std::size_t v = 0; v < shown_.size(); ++v) lives_[shown_[v]] = hull(lives_[shown_[v]], live_.vars[v]);
  for (const VarId v : pinned) lives_[shown_[v]].dies = kForever;
  for (std::size_t v = 0; v < shown_.size(); ++v)
    if (program.vars[v].kind == Kind::Input) lives_[v] = {0, kForever};
  std::set<VarId> read;
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops) {
      if (!op_def(op.type).is_view()) read.insert(op.in.begin(), op.in.end());
      if (const std::string copy = name_of_copy(program, op); !copy.empty()) copied_as_[op.out[0]] = copy;
    }
  for (const auto& [var, copy] : copied_as_)
    if (read.count(var) == 0) unread_.insert(copy);
  for (std::size_t b = 0; b < program.blocks.size(); ++b)
    for (std::size_t i = 0; i < live_.ops[b].size(); ++i) steps_[&program.blocks[b].ops[i]] = live_.ops[b][i];
}

void CheckedRun::before(const Op& op, const KernelArgs& args) {
  for (std::size_t i = 0; i < op.in.size(); ++i) {
    if (op.in[i] == kNone || !is_in_buffers(op.in[i])) continue;
    check_read(op, op.in[i], static_cast<std::byte*>(args.inputs[i]));
    look_at_view(op.in[i], static_cast<std::byte*>(args.inputs[i]));
  }
  for (std::size_t i = 0; i < op.out.size(); ++i) {
    const VarId out = op.out[i];
    if (!is_in_buffers(out)) continue;
    const std::vector<VarId> replaced = replaced_by(op, args, i);
    std::vector<VarId> may_end = replaced;
    may_end.push_back(shown_[out]);  // as the trip before left it
    check_write(op, steps_.at(&op).first, static_cast<std::byte*>(args.outputs[i]) - views_[out].offset,
                bytes_of(program_.vars[shown_[out]]), may_end);
    for (std::size_t other = 0; other < i; ++other)
      if (args.outputs[other] == args.outputs[i]) ADD_FAILURE() << op.type << " writes two outputs into one place";
    if (replaced.empty()) poison(program_.vars[out], args.outputs[i]);
  }
  check_workspace(op, args);
}

/// A workspace is over no value that is needed, over no output, and holds nothing.
void CheckedRun::check_workspace(const Op& op, const KernelArgs& args) {
  const std::int64_t bytes = prepared_.workspace_bytes(program_, op);
  if (bytes == 0) return;
  auto* const begin = static_cast<std::byte*>(args.workspace);
  check_write(op, steps_.at(&op).first, begin, bytes, {});
  for (std::size_t i = 0; i < op.out.size(); ++i) {
    const auto* const out = static_cast<const std::byte*>(args.outputs[i]);
    if (out < begin + bytes && begin < out + bytes_of(program_.vars[op.out[i]]))
      ADD_FAILURE() << op.type << " has its workspace over '" << text(op.out[i]) << "', which it writes";
  }
  std::memset(begin, kPoison, static_cast<std::size_t>(bytes));
}

void CheckedRun::after(const Op& op, const KernelArgs& args) {
  for (std::size_t i = 0; i < op.out.size(); ++i) {
    const VarId out = op.out[i];
    const std::uint64_t value = hash_of_value(value_of(program_.vars[out], args.outputs[i]));
    written_[shown_[out]] = value;
    hash(program_.vars[out].name, value);
    if (is_in_buffers(out)) claim(out, static_cast<std::byte*>(args.outputs[i]));
    for (const auto& [view, copy] : copied_as_)
      if (shown_[view] == shown_[out]) seen_.erase(view);
  }
  bury(steps_.at(&op).first);
}

/// A view in place of a copy holds what the copy would: looked at when it is read first.
void CheckedRun::look_at_view(VarId var, const std::byte* begin) {
  if (const auto copy = copied_as_.find(var); copy != copied_as_.end() && seen_.insert(var).second)
    hash(copy->second, hash_of_value(value_of(program_.vars[var], begin)));
}

void CheckedRun::hash(const std::string& key, std::uint64_t value) {
  std::uint64_t& hash = hashes_[key];
  hash = hash * 31 + value;
}

/// Poisons what is not needed after a step.
void CheckedRun::bury(Tick step) {
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    const Life life = lives_[owner->second.value];
    if (life.dies > step + 1) {
      ++owner;
      continue;
    }
    std::memset(owner->first, kPoison, static_cast<std::size_t>(owner->second.end - owner->first));
    owner = owners_.erase(owner);
  }
}

void CheckedRun::carried(const Op& copy, const KernelArgs& args) {
  const VarId from = copy.in[0], to = copy.out[0];
  const CarriedBy carrier = carriers_[to];
  const bool enters = carrier.op->type == kWhile && carrier.op->in[carrier.index] == from;
  const Tick step = enters ? steps_.at(carrier.op).first : steps_.at(carrier.op).last;
  auto* const source = static_cast<std::byte*>(args.inputs[0]);
  auto* const target = static_cast<std::byte*>(args.outputs[0]);
  const std::int64_t bytes = bytes_of(program_.vars[to]);
  if (is_in_buffers(from)) check_read(copy, from, source);
  check_write(copy, step, target, bytes, {shown_[from], to});
  written_[to] = written_[shown_[from]];
  if (!enters && source != target && is_in_buffers(from) && lives_[shown_[from]].dies <= step + 1) {
    std::memset(source, kPoison, static_cast<std::size_t>(bytes));
    disown(source, source + bytes);
  }
  claim(to, target);
}

/// Nothing owns the buffer's bytes any more: who reads them later is told so.
void CheckedRun::deleted(VarId var) {
  for (auto owner = owners_.begin(); owner != owners_.end();)
    owner = plan_.vars[owner->second.value].buffer == plan_.vars[var].buffer ? owners_.erase(owner) : std::next(owner);
}

void CheckedRun::check_read(const Op& op, VarId var, std::byte* begin) {
  const VarId value = shown_[var];
  const auto owner = owners_.find(begin - views_[var].offset);
  if (program_.vars[value].kind == Kind::Input && owner == owners_.end()) return claim(var, begin);
  if (owner == owners_.end() || owner->second.value != value ||
      owner->second.end != owner->first + bytes_of(program_.vars[value]))
    ADD_FAILURE() << op.type << " reads '" << text(var) << "' where '"
                  << (owner == owners_.end() ? "nothing" : text(owner->second.value)) << "' is";
}

/// Whether it is what a loop carries that runs at that step.
bool CheckedRun::is_carried_at(VarId value, Tick step) const {
  const Op* const op = carriers_[value].op;
  return op && steps_.at(op).first <= step && step <= steps_.at(op).last;
}

void CheckedRun::check_write(const Op& op, Tick step, std::byte* begin, std::int64_t bytes,
                             const std::vector<VarId>& replaced) {
  for (const auto& [at, owner] : owners_) {
    if (at >= begin + bytes || owner.end <= begin) continue;
    const Life life = lives_[owner.value];
    const bool is_needed = life.dies > step && life.born < step && !is_carried_at(owner.value, step);
    if (is_needed && std::find(replaced.begin(), replaced.end(), owner.value) == replaced.end())
      ADD_FAILURE() << op.type << " writes over '" << text(owner.value) << "', which is still needed";
  }
}

/// The values whose memory output `slot` takes by a pair that the op declares.
std::vector<VarId> CheckedRun::replaced_by(const Op& op, const KernelArgs& args, std::size_t slot) const {
  const OpDef& def = op_def(op.type);
  std::vector<VarId> values;
  for (std::size_t i = 0; def.updates && i < op.in.size(); ++i)
    if (op.in[i] == op.out[slot]) values.push_back(shown_[op.in[i]]);
  for (const InPlace& pair : def.inplace) {
    if (pair.out != static_cast<int>(slot) || pair.in >= static_cast<int>(op.in.size()) || op.in[pair.in] == kNone)
      continue;
    const VarId value = shown_[op.in[pair.in]];
    const Tick step = steps_.at(&op).first;
    if (args.inputs[pair.in] == args.outputs[slot] && (lives_[value].dies == step + 1 || is_carried_at(value, step)))
      values.push_back(value);
  }
  return values;
}

/// All the bytes of what the var is a view of.
void CheckedRun::claim(VarId var, std::byte* begin) {
  const VarId value = shown_[var];
  begin -= views_[var].offset;
  const std::int64_t bytes = bytes_of(program_.vars[value]);
  disown(begin, begin + bytes);
  owners_[begin] = {begin + bytes, value};
}

/// Takes the bytes away from whoever has them; what is left of the others stays theirs.
void CheckedRun::disown(std::byte* begin, std::byte* end) {
  for (auto owner = owners_.begin(); owner != owners_.end();) {
    const auto [at, owned] = *owner;
    if (at >= end || owned.end <= begin) {
      ++owner;
      continue;
    }
    owner = owners_.erase(owner);
    if (at < begin) owners_[at] = {begin, owned.value};
    if (owned.end > end) owners_[end] = {owned.end, owned.value};
  }
}

}  // namespace lethe::testing
