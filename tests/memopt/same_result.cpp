#include "tests/memopt/same_result.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "framework/language/clone.h"
#include "framework/language/init.h"
#include "framework/language/op_def.h"
#include "framework/language/views.h"
#include "tests/memopt/checked_run.h"
#include "tests/support/counting_device.h"
#include "tests/support/late_device.h"

namespace lethe::testing {
namespace {

std::string digits_of(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::vector<std::byte> bytes_in(const Interpreter& values, VarId var) {
  const auto* const data = static_cast<const std::byte*>(values.memory(var).data());
  return {data, data + values.memory(var).bytes()};
}

void feed_next(const std::map<VarId, std::vector<std::byte>>& inputs, Executor& executor) {
  for (const auto& [input, value] : inputs)
    executor.feed_next(input, value.data(), static_cast<std::int64_t>(value.size()));
}

/// What must be there after a step: what is fetched or skipped, and with --skip-grads every parameter gradient.
std::vector<VarId> kept_vars(const Program& program, const PinOptions& options) {
  const std::vector<Pin> pins = collect_pins(program, options);
  std::vector<VarId> kept;
  for (VarId v = 0; v < static_cast<VarId>(pins.size()); ++v)
    if (pins[v] == Pin::Fetched || pins[v] == Pin::Skipped || pins[v] == Pin::Gradient) kept.push_back(v);
  return kept;
}

/// Its bytes after the step are those that its op wrote, if its block ran.
void check_kept(const Program& program, VarId v, const Executor& executor, const CheckedRun& checked) {
  std::string bytes(static_cast<std::size_t>(bytes_of(program.vars[v])), '\0');
  executor.fetch(v, bytes.data(), static_cast<std::int64_t>(bytes.size()));
  const auto written = checked.written().find(view_root(program)[v]);
  if (written == checked.written().end() && program.vars[v].block != 0) return;
  ASSERT_NE(written, checked.written().end());
  EXPECT_EQ(hash_of_value(bytes), written->second) << "'" << program.vars[v].name << "' is not what it was";
}

/// The var of which it is a copy, for values computed again outside of loops; kNone for all others.
VarId first_of(const Program& program, VarId v) {
  const std::string& name = program.vars[v].name;
  const std::size_t again = name.find(kAgain);
  return program.vars[v].block != 0 || again == std::string::npos ? kNone : find_var(program, name.substr(0, again));
}

/// What is computed again is what was computed first.
void check_again(const Program& program, const CheckedRun& checked) {
  std::set<VarId> in_parts;  // written by several ops
  for (const Op& op : program.blocks[0].ops)
    if (op_def(op.type).view == ViewOf::Parts) in_parts.insert(op.out[0]);
  for (VarId v = 0; v < static_cast<VarId>(program.vars.size()); ++v) {
    const VarId first = first_of(program, v);
    if (first == kNone || in_parts.count(v) + in_parts.count(first) > 0) continue;
    const auto of_first = checked.written().find(first), of_copy = checked.written().find(v);
    if (of_first == checked.written().end() || of_copy == checked.written().end()) continue;
    EXPECT_EQ(of_copy->second, of_first->second) << "'" << program.vars[v].name << "' is not what it was at first";
  }
}

/// By name: what mask_picked (slices too), fuse_masks, mask_sums, fuse_casts, fuse_copies and fuse_updates do without.
std::set<std::string> folded_away(const Program& before, const Program& after) {
  std::set<std::string> names;
  for (const Block& block : before.blocks)
    for (const Op& op : block.ops)
      if (const FusionPart part = op_def(op.type).part; part == FusionPart::PickGradient || part == FusionPart::Mask ||
                                                        op.type == kSum || op.type == kCast || op.type == "slice" ||
                                                        rule_of(op, Fusion::Update))
        names.insert(before.vars[op.out[0]].name);
  for (const Block& block : after.blocks)
    for (const Op& op : block.ops)
      for (const std::vector<VarId>* vars : {&op.in, &op.out})
        for (const VarId v : *vars)
          if (v != kNone) names.erase(after.vars[v].name);
  return names;
}

}  // namespace

const std::vector<std::string>& all_settings() {
  static const std::vector<std::string> settings = {
      "none",    "none,release",    "none,inplace",    "none,release,inplace",
      "level=0", "level=0,release", "level=0,inplace", "level=0,release,inplace",
      "level=1", "level=1,release", "level=1,inplace", "level=1,release,inplace",
      "level=2", "level=3"};
  return settings;
}

MemoptOptions options_of(const std::string& memopt, bool skip_grads, const Network& network) {
  MemoptOptions options = parse_memopt(memopt);
  options.pins.fetched = {network.loss};
  options.pins.skip_grads = skip_grads;
  options.seconds = 0.01;
  options.fuse_copies = options.fuse_updates = is_in_arena(options.level);
  if (options.level == Level::Arena)  // of small programs, too, passes over memory run once more
    options.costs.seconds_of = [](const Program& program, const Op& op) {
      return mult_adds_of(program, op) == 0 ? 1e-6 : 1;
    };
  return options;
}

Given given_to(const Network& network, int steps) {
  Given given;
  Interpreter values(network.program);
  fill_network(network, values);
  for (VarId v = 0; v < static_cast<VarId>(network.program.vars.size()); ++v)
    if (const Var& var = network.program.vars[v]; is_persistable(var.kind)) given.store[var.name] = bytes_in(values, v);
  for (int step = 0; step < steps; ++step) {
    if (step > 0) values.fill_uniform(network.inputs.front(), -1, 1, static_cast<std::uint64_t>(100 + step));
    given.inputs.emplace_back();
    for (const VarId input : network.inputs) given.inputs.back()[input] = bytes_in(values, input);
  }
  return given;
}

Outcome run_under(const TrainingProgram& made, const MemoptOptions& options, const Given& given, int threads) {
  const Network& network = made.network;
  CountingDevice memory(threads);
  LateDevice device(memory);
  Outcome outcome;
  {
    Prepared prepared(device);
    const Planned planned = plan_memory(network.program, prepared, options);
    Store store(device);
    Executor executor(planned.program, planned.plan, prepared, store);
    for (const std::string& name : store.names()) {
      const std::vector<std::byte>& value = given.store.at(name);
      store.write(name, value.data(), static_cast<std::int64_t>(value.size()));
    }
    const std::vector<VarId> kept = kept_vars(planned.program, options.pins);
    CheckedRun checked(planned.program, planned.plan, kept, prepared);
    executor.observe(&checked);
    for (const auto& inputs : given.inputs) {
      feed_next(inputs, executor);
      checked.begin_step();
      executor.run();
      outcome.hashes.push_back(checked.hashes());
      if (!options.fuse) check_again(planned.program, checked);
      for (const VarId v : kept) check_kept(planned.program, v, executor, checked);
      outcome.losses.push_back(digits_of(executor.fetch_scalar(network.loss)));
    }
    outcome.unread = checked.unread();
    outcome.folded_away = folded_away(network.program, planned.program);
    for (const std::string& name : store.names()) outcome.store[name] = store.read(name);
    outcome.bytes = planned.plan.bytes;
    outcome.predicted = outcome.bytes.total();
  }
  outcome.taken = memory.peak_bytes();
  return outcome;
}

void expect_same_outcome(const Outcome& outcome, const Outcome& expected) {
  ASSERT_EQ(outcome.hashes.size(), expected.hashes.size());
  for (std::size_t step = 0; step < expected.hashes.size(); ++step) {
    for (const auto& [var, hash] : expected.hashes[step]) {
      if (outcome.unread.count(var) > 0 || outcome.folded_away.count(var) > 0) continue;
      const auto found = outcome.hashes[step].find(var);
      EXPECT_TRUE(found != outcome.hashes[step].end() && found->second == hash)
          << "'" << var << "' has other bits in step " << step;
    }
  }
  EXPECT_EQ(outcome.losses, expected.losses);
  EXPECT_EQ(outcome.store, expected.store);
}

void expect_the_same_under_all_settings(const TrainingProgram& made, int steps, int threads) {
  const bool has_blocks = made.network.program.blocks.size() > 1;
  const Given given = given_to(made.network, steps);
  const Outcome expected = run_under(made, options_of("none", false, made.network), given, threads);
  EXPECT_EQ(expected.taken, expected.predicted);
  const std::int64_t padding = DeviceInfo{}.alignment * static_cast<std::int64_t>(made.network.program.vars.size());
  MemoptOptions staged = options_of("level=2", false, made.network);
  staged.stage_inputs = staged.gather = true;
  expect_same_outcome(run_under(made, staged, given, threads), expected);
  for (const double overhead : {0.05, 100.0}) {
    SCOPED_TRACE(::testing::Message() << "--overhead " << overhead);
    MemoptOptions priced = options_of("level=3", false, made.network);
    priced.overhead = overhead;
    expect_same_outcome(run_under(made, priced, given, threads), expected);
    priced.fuse = true;  // then ops write other values than they would alone: results are the same
    const Outcome fused = run_under(made, priced, given, threads);
    EXPECT_EQ(fused.losses, expected.losses);
    EXPECT_EQ(fused.store, expected.store);
  }
  for (const std::string& setting : all_settings())
    for (const bool skip_grads : {false, true}) {
      SCOPED_TRACE(::testing::Message() << "--memopt " << setting << (skip_grads ? " --skip-grads" : ""));
      const Outcome outcome = run_under(made, options_of(setting, skip_grads, made.network), given, threads);
      expect_same_outcome(outcome, expected);
      if (has_blocks && setting.find("release") != std::string::npos)
        EXPECT_LE(outcome.taken, outcome.predicted) << "bytes: blocks that did not run took none";
      else
        EXPECT_EQ(outcome.taken, outcome.predicted) << "bytes";
      EXPECT_LE(outcome.predicted, expected.predicted + padding) << "beyond what alignment may add to an arena";
    }
}

}  // namespace lethe::testing
